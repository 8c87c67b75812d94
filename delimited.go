package capcli

import (
	"bytes"
	"errors"
	"io"
	"strings"
)

// Limits on text from outside. Each is far above any real file.
const (
	MaxLine    = 1 << 20 // bytes of a line, or of a record over several lines
	MaxColumns = 4096    // columns of a row
)

// ErrLongLine is the error of a line or a record that is longer than MaxLine.
var ErrLongLine = errors.New("the line is longer than 1 MiB")

// LineReader reads text line by line without copying it. It fails at a line longer than MaxLine.
type LineReader struct {
	src     io.Reader
	buf     []byte
	at, end int // buf[at:end] has been read but not returned
	line    int
	err     error
	cut     bool
	begun   bool // the first bytes were looked at
}

// NewLineReader returns a reader of the lines of src, which is UTF-8, or UTF-16 with a byte-order mark.
func NewLineReader(src io.Reader) *LineReader {
	return &LineReader{src: src, buf: make([]byte, 64<<10)}
}

// Line returns the number of lines returned so far.
func (r *LineReader) Line() int { return r.line }

// Err returns why the text ended: io.EOF, or the error. It is nil until then.
func (r *LineReader) Err() error { return r.err }

// Fail ends the text with an error. Lines not yet returned are dropped.
func (r *LineReader) Fail(err error) { r.err, r.end = err, r.at }

// EndsOpen reports whether the last line returned had no line end.
func (r *LineReader) EndsOpen() bool { return r.cut }

// fill reads more text into buf. It reports false when the text has ended.
func (r *LineReader) fill() bool {
	if r.err != nil {
		return false
	}
	if r.at > 0 {
		copy(r.buf, r.buf[r.at:r.end])
		r.end -= r.at
		r.at = 0
	}
	if r.end == len(r.buf) {
		r.buf = append(r.buf, make([]byte, len(r.buf))...)
	}
	more := r.readMore()
	if r.begun {
		return more
	}
	for r.end < 2 && r.err == nil {
		r.readMore()
	}
	r.begun = true
	src := r.src
	if r.err != nil {
		src = errorReader{r.err} // what ended the source ends the decoded text too
	}
	if text := decodeUTF16(r.buf[:r.end], src); text != nil {
		r.end, r.err, r.src = 0, nil, text
		return r.readMore()
	}
	return r.end > 0
}

// readMore reads once into the free part of buf.
func (r *LineReader) readMore() bool {
	for range 100 {
		n, err := r.src.Read(r.buf[r.end:])
		r.end += n
		if err != nil {
			r.err = err
			return n > 0
		}
		if n > 0 {
			return true
		}
	}
	r.err = io.ErrNoProgress
	return false
}

// errorReader has no text: reading it fails.
type errorReader struct{ err error }

// Read implements io.Reader.
func (r errorReader) Read([]byte) (int, error) { return 0, r.err }

// Head returns the next bytes, up to n, without consuming them.
func (r *LineReader) Head(n int) []byte {
	for r.end-r.at < n && r.fill() {
	}
	return r.buf[r.at:min(r.end, r.at+n)]
}

// Next returns the next line without its line end; it strips a byte-order mark from the first line.
// It reports false at the end of the text. The line is valid until the next call.
func (r *LineReader) Next() ([]byte, bool) {
	seen := 0
	for {
		if i := bytes.IndexByte(r.buf[r.at+seen:r.end], '\n'); i >= 0 {
			return r.take(seen+i, 1)
		}
		seen = r.end - r.at
		if seen > MaxLine {
			r.Fail(ErrLongLine)
			return nil, false
		}
		if !r.fill() {
			if !errors.Is(r.err, io.EOF) || r.at == r.end {
				return nil, false
			}
			return r.take(seen, 0)
		}
	}
}

// take consumes a line of n bytes followed by end bytes of line end, and returns the line.
func (r *LineReader) take(n, end int) ([]byte, bool) {
	if n > MaxLine {
		r.Fail(ErrLongLine)
		return nil, false
	}
	line := r.buf[r.at : r.at+n]
	r.at += n + end
	r.line++
	r.cut = end == 0
	if r.line == 1 {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	return bytes.TrimSuffix(line, []byte{'\r'}), true
}

// Read implements io.Reader, for text that is not read by lines.
func (r *LineReader) Read(p []byte) (int, error) {
	if r.at == r.end && !r.fill() {
		return 0, r.err
	}
	n := copy(p, r.buf[r.at:r.end])
	r.line += bytes.Count(p[:n], []byte{'\n'})
	r.at += n
	return n, nil
}

// ReadByte implements io.ByteReader, for text that is not read by lines.
func (r *LineReader) ReadByte() (byte, error) {
	if r.at == r.end && !r.fill() {
		return 0, r.err
	}
	c := r.buf[r.at]
	r.at++
	if c == '\n' {
		r.line++
	}
	return c, nil
}

// QuoteFault is a fault in the quotes of a record.
type QuoteFault uint8

// The faults. A reader may accept QuoteInside and TextBehindQuote: the field then keeps the text as
// it is.
const (
	QuotesSound     QuoteFault = iota
	QuoteInside                // a quote inside a field that does not start with one
	TextBehindQuote            // text between the closing quote and the separator
	QuoteOpen                  // no closing quote: Row is not valid
)

// Fields splits records of delimited text into fields as in RFC 4180, with any separator of one
// byte. A field that starts with a quote ends at the next single quote; two quotes stand for one. A
// line without quotes is split in place.
type Fields struct {
	Separator byte
	Bare      bool     // treat quotes as text
	Row       [][]byte // the fields, valid until the next record; MaxColumns+1 if the record has more than MaxColumns
	Raw       []byte   // the record, over all its lines
	held      []byte   // buffer for a record over several lines
	room      []byte   // buffer for fields without their quotes
}

// Split splits line into Row.
func (f *Fields) Split(line []byte) QuoteFault {
	f.Raw, f.Row = line, f.Row[:0]
	if !f.Bare && bytes.IndexByte(line, '"') >= 0 {
		return f.splitQuoted(line)
	}
	for len(f.Row) <= MaxColumns {
		i := bytes.IndexByte(line, f.Separator)
		if i < 0 {
			break
		}
		f.Row = append(f.Row, line[:i])
		line = line[i+1:]
	}
	f.Row = append(f.Row, line)
	return QuotesSound
}

// SplitRecord splits line into Row. While a quote is open it appends the next lines of r. A record
// longer than MaxLine ends r with ErrLongLine.
func (f *Fields) SplitRecord(r *LineReader, line []byte) QuoteFault {
	fault := f.Split(line)
	if fault != QuoteOpen {
		return fault
	}
	begin := r.line - 1
	f.Row = f.Row[:0] // it refers to a line that the next read overwrites
	f.held = append(f.held[:0], line...)
	for open := true; open; {
		more, ok := r.Next()
		f.Raw = f.held
		if !ok {
			return QuoteOpen
		}
		open = f.staysOpen(more)
		f.held = append(append(f.held, '\n'), more...)
		if f.Raw = f.held; len(f.held) > MaxLine {
			r.Fail(ErrLongLine)
			r.line = begin
			return QuoteOpen
		}
	}
	return f.Split(f.held)
}

// staysOpen reports whether a quote that is open before line is still open after it.
func (f *Fields) staysOpen(line []byte) bool {
	for {
		i := bytes.IndexByte(line, '"')
		if i < 0 {
			return true
		}
		line = line[i+1:]
		if len(line) > 0 && line[0] == '"' {
			line = line[1:]
			continue
		}
		for len(line) == 0 || line[0] != '"' {
			if i = bytes.IndexByte(line, f.Separator); i < 0 {
				return false
			}
			line = line[i+1:]
		}
		line = line[1:]
	}
}

func (f *Fields) splitQuoted(line []byte) (fault QuoteFault) {
	if f.room = f.room[:0]; cap(f.room) < len(line) {
		f.room = make([]byte, 0, 2*len(line)) // fields point into it, so it may not move
	}
	for len(f.Row) <= MaxColumns {
		var field []byte
		var more bool
		if len(line) > 0 && line[0] == '"' {
			var found QuoteFault
			if field, line, more, found = f.unquote(line[1:]); found == QuoteOpen {
				return QuoteOpen
			}
			fault = max(fault, found)
		} else if field, line, more = bytes.Cut(line, []byte{f.Separator}); bytes.IndexByte(field, '"') >= 0 {
			fault = max(fault, QuoteInside)
		}
		f.Row = append(f.Row, field)
		if !more {
			break
		}
	}
	return fault
}

// unquote cuts a field, whose opening quote is already removed, off the front of line. more says
// whether a separator followed it.
func (f *Fields) unquote(line []byte) (field, rest []byte, more bool, fault QuoteFault) {
	from := len(f.room)
	for {
		i := bytes.IndexByte(line, '"')
		if i < 0 {
			return nil, nil, false, QuoteOpen
		}
		f.room = append(f.room, line[:i]...)
		line = line[i+1:]
		if len(line) == 0 || line[0] != '"' {
			break
		}
		f.room = append(f.room, '"')
		line = line[1:]
	}
	behind, rest, more := bytes.Cut(line, []byte{f.Separator})
	if len(behind) > 0 {
		f.room, fault = append(f.room, behind...), TextBehindQuote
	}
	return f.room[from:len(f.room):len(f.room)], rest, more, fault
}

// FindSeparator returns the most frequent of candidates in a header; the first candidate if none
// occurs.
func FindSeparator(header []byte, candidates string) byte {
	best, most := candidates[0], 0
	for _, c := range []byte(candidates) {
		if n := bytes.Count(header, []byte{c}); n > most {
			best, most = c, n
		}
	}
	return best
}

// FindColumn returns the index in header of the first of names that it has, ignoring case; -1 if it
// has none.
func FindColumn(header []string, names ...string) int {
	for _, want := range names {
		for i, have := range header {
			if strings.EqualFold(have, want) {
				return i
			}
		}
	}
	return -1
}
