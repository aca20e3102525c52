//! Writes HTML and SVG: elements that are always closed, text that is always escaped.
//!
//! What it writes is well-formed XML as well as HTML, so that a strict parser can check the page. It knows no element
//! by name; what is a child of what is in the nesting of the calls. Only [`Markup::style`] writes text as it is, and it
//! takes nothing but constants.
//!
//! Rejected: a template engine, whose templates nothing checks before they are rendered.

use std::fmt::{self, Display, Write};

/// The names and values of an element's attributes.
pub(crate) type Attributes<'a> = &'a [(&'a str, &'a dyn Display)];

/// A piece of a page, in the making.
#[derive(Debug, Default)]
pub(crate) struct Markup(String);

impl Markup {
    /// An empty page.
    pub(crate) fn page() -> Self {
        Self("<!DOCTYPE html>\n".to_owned())
    }

    /// An element with children.
    pub(crate) fn element(
        &mut self,
        name: &str,
        attributes: Attributes<'_>,
        children: impl FnOnce(&mut Self),
    ) {
        self.open(name, attributes);
        self.0.push('>');
        children(self);
        self.close(name);
    }

    /// An element that holds only text.
    pub(crate) fn leaf(&mut self, name: &str, attributes: Attributes<'_>, text: impl Display) {
        self.element(name, attributes, |leaf| leaf.text(text));
    }

    /// An element without children.
    pub(crate) fn empty(&mut self, name: &str, attributes: Attributes<'_>) {
        self.open(name, attributes);
        self.0.push_str("/>");
    }

    /// Text of any kind.
    pub(crate) fn text(&mut self, text: impl Display) {
        self.escaped(text);
    }

    /// A style sheet. Must hold neither `<` nor `&`.
    pub(crate) fn style(&mut self, sheet: &'static str) {
        self.0.push_str("<style>");
        self.0.push_str(sheet);
        self.close("style");
    }

    /// What was written.
    pub(crate) fn finish(self) -> String {
        self.0
    }

    fn open(&mut self, name: &str, attributes: Attributes<'_>) {
        self.0.push('<');
        self.0.push_str(name);
        for (name, value) in attributes {
            self.0.push(' ');
            self.0.push_str(name);
            self.0.push_str("=\"");
            self.escaped(value);
            self.0.push('"');
        }
    }

    fn close(&mut self, name: &str) {
        self.0.push_str("</");
        self.0.push_str(name);
        self.0.push_str(">\n");
    }

    fn escaped(&mut self, text: impl Display) {
        write!(Escaping(&mut self.0), "{text}").expect("a string takes any text");
    }
}

/// Passes text on with every character replaced that means something in HTML or XML, or nothing in either.
struct Escaping<'a>(&'a mut String);

impl Write for Escaping<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            match character {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                '\n' | '\t' => self.0.push(character),
                '\u{fffe}' | '\u{ffff}' => self.0.push('\u{fffd}'),
                control if control.is_control() => self.0.push('\u{fffd}'),
                other => self.0.push(other),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_nest_and_close() {
        let mut page = Markup::default();
        page.element("p", &[("class", &"a")], |p| {
            p.empty("br", &[]);
            p.leaf("b", &[], 7);
        });
        assert_eq!(page.finish(), "<p class=\"a\"><br/><b>7</b>\n</p>\n");
    }

    #[test]
    fn text_and_values_are_escaped() {
        let mut page = Markup::default();
        page.leaf("p", &[("title", &"\"'")], "<script>&\u{0}\u{ffff}");
        let expected = "<p title=\"&quot;&#39;\">&lt;script&gt;&amp;\u{fffd}\u{fffd}</p>\n";
        assert_eq!(page.finish(), expected);
    }
}
