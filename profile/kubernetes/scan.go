package kubernetes

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"capcli"
)

// Limits on input from outside.
const (
	maxObject = 16 << 20 // bytes of one object
	maxYAML   = 64 << 20 // bytes of a YAML file, which is held in memory
)

// scanner splits JSON text into its objects: the items of a List, the elements of an array, or objects one
// after another. It follows braces and strings and does not parse otherwise.
type scanner struct {
	r    *bufio.Reader
	name string // of the input, for messages
	n    int    // line ends read

	raw    []byte // the object; valid until the next call
	line   int    // line of the object's opening brace, from 1
	items  bool   // within the items of a List
	outer  []byte // the part of the List read so far
	ended  string // how the input ends early; "" for a regular end
	opened int    // line at which the List began
}

func newScanner(r io.Reader, name string) *scanner {
	return &scanner{r: bufio.NewReaderSize(r, 64<<10), name: name}
}

// next reads the next object into s.raw. It returns false at the end. A read error, other than the end, and
// text that is no JSON object are errors.
func (s *scanner) next() (bool, error) {
	for {
		c, err := s.readByte()
		switch {
		case errors.Is(err, io.EOF):
			if s.items {
				s.ended = fmt.Sprintf("is cut short: the list of items that begins at line %d does not end", s.opened)
			}
			return false, nil
		case err != nil:
			return false, err
		case c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == ',':
		case s.items && c == ']':
			s.items = false
			if whole, err := s.object(s.outer); !whole || err != nil {
				return false, err
			}
		case c == '{':
			s.line = s.n + 1
			whole, err := s.object(append(s.raw[:0], '{'))
			if err != nil || whole || s.ended != "" {
				return whole, err
			}
		case !s.items && (c == '[' || c == ']'), c == 0xef || c == 0xbb || c == 0xbf: // an array; a byte-order mark
		default:
			return false, s.fault(fmt.Sprintf("want a JSON object, found %q", c))
		}
	}
}

// object reads the rest of an object after text, which begins with its opening brace. It returns false where
// the object is a List, whose items come next, and where the input ends.
func (s *scanner) object(text []byte) (whole bool, err error) {
	depth, quoted, escaped := 1, false, false
	for depth > 0 {
		c, err := s.readByte()
		if errors.Is(err, io.EOF) {
			s.ended = fmt.Sprintf("is cut short: the JSON object that begins at line %d does not end", s.line)
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
			if c == '[' && depth == 1 && !s.items && endsItems(text[:len(text)-1]) {
				s.items, s.opened = true, s.line
				s.outer = append(append([]byte(nil), text...), ']')
				return false, nil
			}
			depth++
		case c == '}', c == ']':
			depth--
		}
		if len(text) > maxObject {
			return false, s.fault("the JSON object is longer than 16 MiB")
		}
	}
	s.raw = text
	return true, nil
}

// endsItems reports whether text ends with the key of a List's items.
func endsItems(text []byte) bool {
	text, ok := bytes.CutSuffix(bytes.TrimRight(text, " \t\r\n"), []byte(":"))
	return ok && bytes.HasSuffix(bytes.TrimRight(text, " \t\r\n"), []byte(`"items"`))
}

func (s *scanner) readByte() (byte, error) {
	c, err := s.r.ReadByte()
	if c == '\n' && err == nil {
		s.n++
	}
	return c, err
}

func (s *scanner) fault(text string) *capcli.InputError {
	return &capcli.InputError{
		File: s.name, Line: s.n + 1, Text: text,
		Hint: "export it with: kubectl get workloads.kueue.x-k8s.io,jobs,pods -A -o json",
	}
}
