package trace

import (
	"bytes"
	"fmt"
)

// maxObject is the most bytes of one JSON object of a list.
const maxObject = 16 << 20

// objects splits a JSON list, or a sequence of JSON objects, into its objects. It only
// follows their braces and strings and does not parse them otherwise.
type objects struct {
	r    *Reader
	raw  []byte // the object; valid until the next call
	line int    // line of the object's opening brace, from 1
	n    int    // line ends read
	list bool   // the list was opened
	done bool   // the list was closed
	err  error  // why nextObject ended; nil at the regular end
}

// nextObject reads the next object into o.raw. It returns false at the end and after an
// error, which it sets as o.err.
func (o *objects) nextObject() bool {
	for {
		c, ok := o.byte()
		switch {
		case !ok:
			if o.err = o.r.endError(); o.err == nil && o.list && !o.done && !o.r.rep.Cut {
				o.err = o.r.cut(fmt.Sprintf("is cut short: the JSON list ends at line %d without its ]", o.n+1))
			}
			return false
		case c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == ',':
		case c == '{' && !o.done:
			o.line = o.n + 1
			return o.object()
		case c == '[' && !o.list:
			o.list = true
		case c == ']' && o.list && !o.done:
			o.done = true
		case c == 0xef || c == 0xbb || c == 0xbf: // byte-order mark
		default:
			o.err = o.r.fault(o.n+1, "", fmt.Sprintf("expected a JSON object, found %q", c), "expected a list of objects: [{…}, {…}]")
			return false
		}
	}
}

// object reads bytes up to the object's closing brace, after its opening one was read. It
// returns false where the object does not end or is too long.
func (o *objects) object() bool {
	o.raw = append(o.raw[:0], '{')
	depth, quoted, escaped := 1, false, false
	for depth > 0 {
		c, ok := o.byte()
		if !ok {
			if o.err = o.r.endError(); o.err == nil && !o.r.rep.Cut {
				o.err = o.r.cut(fmt.Sprintf("is cut short: the JSON object that begins at line %d does not end", o.line))
			}
			return false
		}
		o.raw = append(o.raw, c)
		switch {
		case escaped:
			escaped = false
		case quoted:
			escaped, quoted = c == '\\', c != '"'
		case c == '"':
			quoted = true
		case c == '{':
			depth++
		case c == '}':
			depth--
		}
		if len(o.raw) > maxObject {
			o.err = o.r.fault(o.line, "", "the JSON object is longer than 16 MiB", "check that this is a job log")
			return false
		}
	}
	return true
}

func (o *objects) byte() (byte, bool) {
	c, err := o.r.text.ReadByte()
	if c == '\n' {
		o.n++
	}
	return c, err == nil
}

// beginsJSON returns head without a leading byte-order mark and blanks.
func beginsJSON(head []byte) []byte {
	return bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
}
