package report

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter/pkg/twwidth"
)

// Strip removes from a text all that could control a terminal: whole escape sequences (ECMA-48:
// CSI, OSC and other strings, two-byte ones), other control characters, and marks that change the
// direction of text. A byte that is not UTF-8 becomes U+FFFD. Tabs and line ends become a space,
// so that a cell stays on its line.
func Strip(s string) string {
	if clean(s) {
		return s
	}
	var b strings.Builder
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			b.WriteRune(utf8.RuneError)
		case r == 0x1b || r >= 0x90 && r <= 0x9f:
			s = s[escape(s, r, size):]
			continue
		case r == '\t' || r == '\n':
			b.WriteByte(' ')
		case harmless(r):
			b.WriteRune(r)
		}
		s = s[size:]
	}
	return b.String()
}

func clean(s string) bool {
	for _, r := range s {
		if r == utf8.RuneError || !harmless(r) {
			return false
		}
	}
	return true
}

func harmless(r rune) bool {
	switch {
	case unicode.IsControl(r):
		return false
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x061c:
		return false // direction
	case r == 0x2028 || r == 0x2029:
		return false // line and paragraph separators
	}
	return true
}

// escape returns the length in bytes of the escape sequence at the start of s; r is its first
// rune, of size bytes. A string without an end takes the rest of s.
func escape(s string, r rune, size int) int {
	kind, at := r, size
	if r == 0x1b {
		if at == len(s) {
			return at
		}
		next, n := utf8.DecodeRuneInString(s[at:])
		kind, at = next+0x40, at+n // ESC [ is CSI, and so on
	}
	switch kind {
	case 0x9b: // CSI: ends at the first byte from @ to ~
		for i := at; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
		}
		return len(s)
	case 0x90, 0x98, 0x9d, 0x9e, 0x9f: // DCS, SOS, OSC, PM, APC: end at BEL or ST
		for i, c := range s[at:] {
			switch {
			case c == 0x07 || c == 0x9c:
				return at + i + utf8.RuneLen(c)
			case c == 0x1b && strings.HasPrefix(s[at+i:], "\x1b\\"):
				return at + i + 2
			}
		}
		return len(s)
	}
	return at
}

// wrap breaks a line between words so that no line is wider than width, except a single longer
// word. Lines after the first begin with indent. A width of 0 is no limit.
func wrap(line string, width int, indent string) string {
	if width <= 0 || twwidth.Width(line) <= width {
		return line
	}
	var b strings.Builder
	at := 0
	for i, word := range strings.Split(line, " ") {
		w := twwidth.Width(word)
		switch {
		case i == 0:
		case at+1+w > width:
			b.WriteString("\n" + indent)
			at = twwidth.Width(indent)
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += w
	}
	return b.String()
}
