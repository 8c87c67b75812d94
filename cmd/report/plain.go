package report

import (
	"bytes"
	"io"
)

// Plain passes text on line by line without what could act on a terminal, as Strip
// does; tabs stay. Flush passes on a last line that has no end.
type Plain struct {
	w    io.Writer
	line []byte
}

// NewPlain is a Plain that writes to w.
func NewPlain(w io.Writer) *Plain { return &Plain{w: w} }

// Write implements io.Writer.
func (p *Plain) Write(b []byte) (int, error) {
	end := bytes.LastIndexByte(b, '\n') + 1
	p.line = append(p.line, b[:end]...)
	if end > 0 {
		if err := p.Flush(); err != nil {
			return 0, err
		}
	}
	p.line = append(p.line, b[end:]...)
	return len(b), nil
}

// Flush passes on what was written so far.
func (p *Plain) Flush() error {
	if len(p.line) == 0 {
		return nil
	}
	lines := bytes.Split(p.line, []byte{'\n'})
	for i, line := range lines {
		cells := bytes.Split(line, []byte{'\t'})
		for k, cell := range cells {
			cells[k] = []byte(Strip(string(cell)))
		}
		lines[i] = bytes.Join(cells, []byte{'\t'})
	}
	p.line = p.line[:0]
	_, err := p.w.Write(bytes.Join(lines, []byte{'\n'}))
	return err
}
