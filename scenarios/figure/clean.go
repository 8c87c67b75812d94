package figure

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMarks is how many combining marks in a row a text keeps. Written languages need up to four.
const maxMarks = 4

// Clean returns a name or text as it may stand in a picture or on a page: without control
// characters and marks that change the direction of text, with a space for a tab or the end of a
// line, with U+FFFD for a byte that is not UTF-8, and with at most four combining marks in a row.
func Clean(text string) string {
	if isClean(text) {
		return text
	}
	var b strings.Builder
	marks := 0
	for _, r := range text {
		switch {
		case r == '\t' || r == '\n' || r == '\r' || r == 0x2028 || r == 0x2029:
			r = ' '
		case !isShown(r):
			continue
		}
		if unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r) {
			if marks++; marks > maxMarks {
				continue
			}
		} else {
			marks = 0
		}
		b.WriteRune(r) // a wrong byte is read as U+FFFD
	}
	return b.String()
}

// Brief returns text as Clean does, cut after most characters, with what is left out said: "aaa…
// (10,800 characters)".
func Brief(text string, most int) string {
	text = Clean(text)
	n := utf8.RuneCountInString(text)
	if n <= most {
		return text
	}
	for i := range text {
		if most--; most < 0 {
			text = text[:i]
			break
		}
	}
	return text + "… (" + Count.Text(Number(n)) + " characters)"
}

func isClean(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] < ' ' || text[i] >= 0x7f {
			return false
		}
	}
	return true
}

func isShown(r rune) bool {
	switch {
	case unicode.IsControl(r), r >= 0xfff0 && r < utf8.RuneError, r&0xfffe == 0xfffe:
		return false
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x061c:
		return false // direction
	}
	return true
}
