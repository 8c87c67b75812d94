package capcli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// MaxObject is the most bytes of one JSON object from outside.
const MaxObject = 16 << 20

// ObjectReader splits JSON text into its objects: the elements of an array, objects one after another, and
// for an object that has the member List, which is an array, the elements of that. It follows braces and
// strings and does not parse otherwise.
type ObjectReader struct {
	List string // member of an outer object whose elements are read in its place: "items"; "" is none

	Raw   []byte // the object; valid until the next call of Next
	Line  int    // line of the object's opening brace, from 1
	Ended string // how the text ends early; "" for a regular end

	r      io.ByteReader
	n      int    // line ends read
	within bool   // within the member List
	outer  []byte // the part of the outer object read so far
	opened int    // line at which the outer object or the array began
	array  bool   // within an array that is not in an object
}

// NewObjectReader returns a reader of the objects in r. Its first line has the number line.
func NewObjectReader(r io.ByteReader, list string, line int) *ObjectReader {
	return &ObjectReader{r: r, List: list, n: line - 1}
}

// Next reads the next object into Raw. It returns false at the end of the text, and fails where reading
// fails and, with an *InputError, where the text is no JSON object.
func (s *ObjectReader) Next() (bool, error) {
	for {
		c, err := s.readByte()
		switch {
		case errors.Is(err, io.EOF):
			if s.within || s.array {
				s.Ended = fmt.Sprintf("is cut short: the list that begins at line %d does not end", s.opened)
			}
			return false, nil
		case err != nil:
			return false, err
		case c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == ',':
		case s.within && c == ']':
			s.within = false
			if whole, err := s.readObject(s.outer); !whole || err != nil {
				return false, err
			}
		case c == '{':
			s.Line = s.n + 1
			whole, err := s.readObject(append(s.Raw[:0], '{'))
			if err != nil || whole || s.Ended != "" {
				return whole, err
			}
		case !s.within && (c == '[' && !s.array || c == ']' && s.array):
			s.array = c == '['
			s.opened = s.n + 1
		case c == 0xef || c == 0xbb || c == 0xbf: // a byte-order mark
		default:
			return false, &InputError{Line: s.n + 1, Text: fmt.Sprintf("want a JSON object, found %q", c)}
		}
	}
}

// readObject reads the rest of an object after text, which begins with its opening brace. It returns false
// where the object has the member List, whose elements come next, and where the text ends.
func (s *ObjectReader) readObject(text []byte) (whole bool, err error) {
	depth, quoted, escaped := 1, false, false
	for depth > 0 {
		c, err := s.readByte()
		if errors.Is(err, io.EOF) {
			s.Ended = fmt.Sprintf("is cut short: the JSON object that begins at line %d does not end", s.Line)
			return false, nil
		}
		if err != nil {
			return false, err
		}
		text = append(text, c)
		switch {
		case escaped:
			escaped = false
		case quoted:
			escaped, quoted = c == '\\', c != '"'
		case c == '"':
			quoted = true
		case c == '{', c == '[':
			if c == '[' && depth == 1 && s.List != "" && !s.within && s.endsMember(text[:len(text)-1]) {
				s.within, s.opened = true, s.Line
				s.outer = append(append([]byte(nil), text...), ']')
				return false, nil
			}
			depth++
		case c == '}', c == ']':
			depth--
		}
		if len(text) > MaxObject {
			return false, &InputError{Line: s.n + 1, Text: "the JSON object is longer than 16 MiB"}
		}
	}
	s.Raw = text
	return true, nil
}

// endsMember reports whether text ends with the name of the member List and a colon.
func (s *ObjectReader) endsMember(text []byte) bool {
	text, ok := bytes.CutSuffix(bytes.TrimRight(text, " \t\r\n"), []byte(":"))
	return ok && bytes.HasSuffix(bytes.TrimRight(text, " \t\r\n"), []byte(`"`+s.List+`"`))
}

func (s *ObjectReader) readByte() (byte, error) {
	c, err := s.r.ReadByte()
	if c == '\n' && err == nil {
		s.n++
	}
	return c, err
}
