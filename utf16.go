package capcli

import (
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// utf16Reader reads UTF-16 text as UTF-8. A surrogate without its other half becomes a byte that is not valid
// UTF-8, so that two different names do not become one.
type utf16Reader struct {
	src  io.Reader
	big  bool   // the more significant byte comes first
	buf  []byte // one read of src
	in   []byte // read and not yet decoded
	room []byte // the memory of out
	out  []byte // text that was not yet read
	err  error
	half rune // first half of a pair of surrogates; 0 for none
}

// decodeUTF16 returns a reader of the UTF-8 text of src where head, the first bytes of the text, begins with a
// byte-order mark of UTF-16. head was read from src before. It returns nil for any other text.
func decodeUTF16(head []byte, src io.Reader) *utf16Reader {
	if len(head) < 2 || [2]byte(head[:2]) != [2]byte{0xff, 0xfe} && [2]byte(head[:2]) != [2]byte{0xfe, 0xff} {
		return nil
	}
	return &utf16Reader{src: src, big: head[0] == 0xfe, in: append([]byte(nil), head[2:]...)}
}

// Read implements io.Reader.
func (r *utf16Reader) Read(p []byte) (int, error) {
	for len(r.out) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		if r.decode(); len(r.out) > 0 {
			break
		}
		if r.buf == nil {
			r.buf = make([]byte, 32<<10)
		}
		var n int
		n, r.err = r.src.Read(r.buf)
		r.in, r.out = append(r.in, r.buf[:n]...), r.room[:0]
		if r.decode(); r.err != nil {
			r.end()
		}
		r.room = r.out
	}
	n := copy(p, r.out)
	r.out = r.out[n:]
	return n, nil
}

// decode moves the whole units of in to out.
func (r *utf16Reader) decode() {
	n := len(r.in) &^ 1
	for i := 0; i < n; i += 2 {
		low, high := r.in[i], r.in[i+1]
		if r.big {
			low, high = high, low
		}
		r.put(rune(high)<<8 | rune(low))
	}
	r.in = append(r.in[:0], r.in[n:]...)
}

// put adds one unit.
func (r *utf16Reader) put(unit rune) {
	if r.half != 0 {
		if both := utf16.DecodeRune(r.half, unit); both != utf8.RuneError {
			r.out, r.half = utf8.AppendRune(r.out, both), 0
			return
		}
		r.out, r.half = append(r.out, 0xff), 0
	}
	switch {
	case unit >= 0xd800 && unit < 0xdc00:
		r.half = unit
	case utf16.IsSurrogate(unit):
		r.out = append(r.out, 0xff)
	default:
		r.out = utf8.AppendRune(r.out, unit)
	}
}

// end adds a byte that is not valid UTF-8 for half a unit, or half a pair, at the end of the text.
func (r *utf16Reader) end() {
	if r.half != 0 || len(r.in) > 0 {
		r.out, r.half, r.in = append(r.out, 0xff), 0, nil
	}
}
