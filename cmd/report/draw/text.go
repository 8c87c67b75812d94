package draw

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"capcli/scenarios/figure"
)

// Advances of the signs from space to ~ in Go Regular and Go Bold, in thousandths of the size. They
// are those of Arial and Helvetica, too. Drawing on SVG needs no font thereby.
var (
	regularAdvances = [...]uint16{
		278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 584, 584, 316, 584, 316, 278, 556, 556, 556, 556, 556, 556, 556, 556, 556,
		556, 306, 306, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 399, 496, 667, 556, 833, 722, 778, 667, 778,
		722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 247, 253,
		500, 268, 833, 556, 556, 556, 556, 333, 500, 283, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
	}
	boldAdvances = [...]uint16{
		278, 333, 474, 556, 556, 889, 722, 238, 333, 333, 558, 584, 278, 584, 278, 278, 556, 556, 556, 556, 556, 556, 556, 556, 556,
		556, 333, 333, 584, 584, 584, 611, 975, 722, 722, 722, 722, 667, 611, 778, 722, 453, 556, 722, 611, 833, 722, 778, 667, 778,
		722, 667, 611, 722, 667, 944, 667, 667, 611, 333, 278, 333, 584, 556, 333, 556, 611, 556, 611, 556, 333, 611, 611, 289, 288,
		556, 298, 889, 611, 611, 611, 611, 389, 556, 333, 611, 556, 778, 556, 556, 500, 389, 280, 389, 584,
	}
)

// spare is how much wider the font of a browser may be: DejaVu Sans is wider than Arial.
const spare = 1.14

// textWidth returns the width of a text in pixels, with what other fonts need more.
func textWidth(text string, l lettering) float64 {
	sum := 0
	for _, r := range text {
		sum += advance(r, l.bold)
	}
	return float64(sum) / 1000 * l.points() * spare
}

// advance returns the width of a sign in thousandths of the size. Signs of East Asia and pictures
// are square; a combining mark has no width.
func advance(r rune, bold bool) int {
	switch {
	case r >= ' ' && r <= '~' && bold:
		return int(boldAdvances[r-' '])
	case r >= ' ' && r <= '~':
		return int(regularAdvances[r-' '])
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xd7a3, r >= 0xf900 && r <= 0xfaff, r >= 0xfe30 && r <= 0xff60, r >= 0x1f000:
		return 1000
	}
	return 600
}

// shortened returns text, cut with an ellipsis where it is wider than width.
func shortened(text string, l lettering, width float64) string {
	const ellipsis = "…"
	text, whole := beginning(text)
	if whole && textWidth(text, l) <= width {
		return text
	}
	left := width/(l.points()*spare)*1000 - 1000
	for i, r := range text {
		if left -= float64(advance(r, l.bold)); left < 0 {
			return strings.TrimRight(text[:i], " ") + ellipsis
		}
	}
	if !whole {
		text += ellipsis
	}
	return text
}

// longest is how many bytes of a text are looked at: more never fit into a picture.
const longest = 3000

// beginning returns the beginning of a text, cleaned, and whether that is all of it.
func beginning(text string) (string, bool) {
	if len(text) <= longest {
		return figure.Clean(text), true
	}
	cut := longest
	for cut > longest-4 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return figure.Clean(text[:cut]), false
}

// wrapped returns text in lines no wider than width, at most most of them; the last is cut.
func wrapped(text string, l lettering, width float64, most int) []string {
	var lines []string
	line := ""
	text, whole := beginning(text)
	if !whole {
		text += " …"
	}
	words := strings.Fields(text)
	for i, word := range words {
		longer := strings.TrimPrefix(line+" "+word, " ")
		if line == "" || textWidth(longer, l) <= width {
			line = longer
			continue
		}
		if len(lines) == most-1 {
			line += " " + strings.Join(words[i:], " ")
			break
		}
		lines = append(lines, shortened(line, l, width))
		line = word
	}
	if line != "" {
		lines = append(lines, shortened(line, l, width))
	}
	return lines
}
