package supply

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"capcli"
)

// Availability is a recorded history of a spot market: the number of instances that
// were available at each tick.
type Availability struct {
	Gap    capcli.Seconds // between ticks; a count holds until the next
	Counts []int
}

// Size returns the largest number of available instances.
func (a *Availability) Size() int {
	most := 0
	for _, c := range a.Counts {
		most = max(most, c)
	}
	return most
}

// Span returns the length of the history.
func (a *Availability) Span() capcli.Seconds { return a.Gap * capcli.Seconds(len(a.Counts)) }

// Polarity says what the numbers of a recorded history count. The files do not say it.
type Polarity uint8

// The polarities.
const (
	CountsAvailable Polarity = iota // instances that were to be had
	CountsPreempted                 // instances that were gone, of as many as the history's largest number
)

// Limits on a history.
const (
	maxTicks     = 10_000_000
	maxInstances = 1_000_000
	maxGap       = 366 * capcli.Day
	maxHistory   = 256 << 20 // bytes
)

// ParseAvailability reads a history in the form of "Can't Be Late" (Wu et al., NSDI
// 2024): {"metadata": {"gap_seconds": 300}, "data": [0, 3, 16, …]}. It ignores other
// fields. Errors of the content are *capcli.InputError without the file's name.
func ParseAvailability(r io.Reader, p Polarity) (Availability, error) {
	in := &historyReader{bytes: bufio.NewReaderSize(io.LimitReader(r, maxHistory+1), 1<<16), line: 1}
	a, err := in.read()
	if err != nil {
		return Availability{}, in.place(err)
	}
	if p == CountsPreempted {
		size := a.Size()
		for i := range a.Counts {
			a.Counts[i] = size - a.Counts[i]
		}
	}
	return a, nil
}

// historyReader reads one history and tracks the current line.
type historyReader struct {
	bytes *bufio.Reader
	json  *json.Decoder
	taken int64
	line  int
}

// Read reads a buffer at a time and counts bytes and lines.
func (in *historyReader) Read(b []byte) (int, error) {
	n, err := in.bytes.Read(b[:min(len(b), 512)])
	if in.taken += int64(n); in.taken > maxHistory {
		return 0, &fault{"", fmt.Sprintf("the history is over %d MiB", maxHistory>>20)}
	}
	for _, c := range b[:n] {
		if c == '\n' {
			in.line++
		}
	}
	return n, err
}

// fault says what is wrong with a field.
type fault struct{ field, text string }

func (f *fault) Error() string { return f.field + ": " + f.text }

const historyHint = `a history is {"metadata": {"gap_seconds": 300}, "data": [0, 3, 16]}`

// place turns an error of the content into an InputError with its line. It wraps other
// errors.
func (in *historyReader) place(err error) error {
	e := &capcli.InputError{Line: in.line, Hint: historyHint}
	var f *fault
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &f):
		e.Field, e.Text = f.field, f.text
	case (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) && in.taken == 0:
		e.Text = "expected a history of availability, found nothing"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		e.Text = "the history ends in the middle"
	case errors.As(err, &syntax):
		e.Text = "expected JSON, found an " + syntax.Error()
	default:
		return fmt.Errorf("read a history of availability: %w", err)
	}
	return e
}

func (in *historyReader) read() (a Availability, err error) {
	in.json = json.NewDecoder(in)
	in.json.UseNumber()
	if err := in.open('{', ""); err != nil {
		return a, err
	}
	seen := map[string]bool{}
	for in.json.More() {
		name, err := in.key(seen)
		if err != nil {
			return a, err
		}
		switch name {
		case "metadata":
			a.Gap, err = in.metadata()
		case "data":
			a.Counts, err = in.counts()
		default:
			err = in.skip()
		}
		if err != nil {
			return a, err
		}
	}
	if _, err := in.json.Token(); err != nil {
		return a, err
	}
	switch _, err := in.json.Token(); {
	case err == nil:
		return a, &fault{"", "more follows after the history"}
	case !errors.Is(err, io.EOF):
		return a, err
	case a.Gap == 0:
		return a, &fault{"metadata.gap_seconds", "is missing: the seconds between two ticks"}
	case len(a.Counts) == 0:
		return a, &fault{"data", "is missing or empty: the instances at each tick"}
	}
	return a, nil
}

// open reads an opening bracket.
func (in *historyReader) open(want json.Delim, field string) error {
	t, err := in.json.Token()
	if err != nil {
		return err
	}
	if t != want {
		return &fault{field, fmt.Sprintf("expected %s, found %v", want, t)}
	}
	return nil
}

// key reads the name of a field. It refuses a known name that comes twice.
func (in *historyReader) key(seen map[string]bool) (string, error) {
	t, err := in.json.Token()
	if err != nil {
		return "", err
	}
	name, _ := t.(string)
	if seen[name] {
		return "", &fault{name, "is given twice"}
	}
	if name == "metadata" || name == "data" || name == "gap_seconds" {
		seen[name] = true
	}
	return name, nil
}

// skip reads a value and drops it.
func (in *historyReader) skip() error {
	for depth := 0; ; {
		t, err := in.json.Token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			if depth++; depth > 100 {
				return &fault{"", "is nested over 100 deep"}
			}
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

func (in *historyReader) metadata() (gap capcli.Seconds, err error) {
	if err := in.open('{', "metadata"); err != nil {
		return 0, err
	}
	seen := map[string]bool{}
	for in.json.More() {
		name, err := in.key(seen)
		if err != nil {
			return 0, err
		}
		if name != "gap_seconds" {
			if err := in.skip(); err != nil {
				return 0, err
			}
			continue
		}
		n, err := in.readWhole(1, int64(maxGap))
		if err != nil {
			return 0, inField("metadata.gap_seconds", err)
		}
		gap = capcli.Seconds(n)
	}
	_, err = in.json.Token()
	return gap, err
}

func (in *historyReader) counts() ([]int, error) {
	if err := in.open('[', "data"); err != nil {
		return nil, err
	}
	var out []int
	for in.json.More() {
		if len(out) == maxTicks {
			return nil, &fault{"data", fmt.Sprintf("has over %d ticks", maxTicks)}
		}
		n, err := in.readWhole(0, maxInstances)
		if err != nil {
			return nil, inField(fmt.Sprintf("data[%d]", len(out)), err)
		}
		out = append(out, int(n))
	}
	_, err := in.json.Token()
	return out, err
}

// readWhole reads a whole number of lo to hi. 3.0 is one too.
func (in *historyReader) readWhole(lo, hi int64) (int64, error) {
	t, err := in.json.Token()
	if err != nil {
		return 0, err
	}
	if t == nil {
		t = "null"
	}
	if n, ok := t.(json.Number); ok {
		if v, err := n.Int64(); err == nil && v >= lo && v <= hi {
			return v, nil
		}
		if v, err := n.Float64(); err == nil && v == float64(int64(v)) && v >= float64(lo) && v <= float64(hi) {
			return int64(v), nil
		}
	}
	return 0, &fault{"", fmt.Sprintf("expected a whole number from %d to %d, found %.40s", lo, hi, fmt.Sprint(t))}
}

func inField(field string, err error) error {
	var f *fault
	if errors.As(err, &f) {
		f.field = field
	}
	return err
}

// MeanUp returns the mean time until a node is lost in a pool of so many nodes that follows the
// history: the time of all nodes that are up over the number of losses; 0 if none is lost.
func (a *Availability) MeanUp(nodes int) capcli.Seconds {
	var up, losses int64
	for i, c := range a.Counts {
		up += int64(min(c, nodes))
		if i > 0 {
			losses += int64(max(0, min(a.Counts[i-1], nodes)-min(c, nodes)))
		}
	}
	if losses == 0 {
		return 0
	}
	return capcli.Seconds(up) * a.Gap / capcli.Seconds(losses)
}
