package trace

import (
	"bytes"
	"fmt"
)

// maxObject bounds one JSON object of a list.
const maxObject = 16 << 20

// objects cuts a JSON list (or objects one after another) into its objects,
// without looking into them further than their braces and strings.
type objects struct {
	r    *Reader
	raw  []byte // the object; valid until the next call
	line int    // on which it began
	n    int    // lines passed
	list bool   // a list was opened
	done bool   // and closed
	err  error
}

// nextObject finds the next object. It reports false at the end and where it sets o.err.
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

// object gathers bytes up to the brace that closes the object.
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

// beginsJSON gives the first bytes of head after blanks and a mark.
func beginsJSON(head []byte) []byte {
	return bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
}
