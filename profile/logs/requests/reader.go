package requests

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"capcli"
	"capcli/profile/logs/trace"
)

// Bounds on values. A row outside them is not valid.
const (
	maxTokens = 1 << 30
	maxNames  = 20_000_000             // different users, models or prefixes
	maxOffset = 1_000_000_000 * Second // latest arrival of a trace without dates: 31 years
	minDate   = int64(0)               // 1970
	maxDate   = 7_258_118_400 * Second // 2200
	oftenRows = 1 << 12                // rows between looks at the context
)

// Reader is one pass over one trace.
type Reader struct {
	in     trace.Input
	o      Options
	format Format
	text   *capcli.LineReader

	rep           Report
	yield         func(*Row) error
	last          int64 // arrival of the last kept row
	clock         clock
	dated, timed  bool // whether times are dates, and whether that is known
	users, models names
	prefixes      names
	used          bool
	lengths       bool // times are not needed: without a column of them all are 0
}

// Open returns a reader of in. It unpacks gzip and zstd, and finds the format where o does not name it.
func Open(in trace.Input, o Options) (*Reader, error) { return open(in, o, false) }

// open returns a reader of in. lengths says that times are not needed.
func open(in trace.Input, o Options, lengths bool) (*Reader, error) {
	if in.R == nil && in.At == nil {
		return nil, fmt.Errorf("opening %q: no reader given", in.Name)
	}
	plain, err := trace.Unpack(in)
	if err != nil {
		return nil, err
	}
	text, ok := plain.(*capcli.LineReader)
	if !ok {
		text = capcli.NewLineReader(plain)
	}
	r := &Reader{in: in, o: o, text: text, lengths: lengths, clock: clock{zone: o.TZ}, users: newNames(), models: newNames(), prefixes: newNames()}
	r.rep.Notes = []string{}
	head := text.Head(trace.HeadBytes)
	if len(bytes.TrimSpace(head)) == 0 {
		if err := r.endError(); err != nil {
			return nil, err
		}
		return nil, r.fault(0, "", "the file is empty: expected requests", "check how it was exported")
	}
	return r, r.choose(head)
}

// Sniff returns the name of the format of a file that begins with head, unpacked; "" is none.
func Sniff(head []byte) string {
	for _, general := range []bool{false, true} {
		for _, e := range Formats.All() {
			if e.Value.General == general && e.Value.Sniff != nil && e.Value.Sniff(head) {
				return e.Name
			}
		}
	}
	return ""
}

// choose sets the format: the one that the options name, or the one found from head.
func (r *Reader) choose(head []byte) error {
	name := r.o.Format
	if name == "auto" {
		name = ""
	}
	if name == "" {
		name = Sniff(head)
	}
	if len(r.o.Map) > 0 && (name == "" || !mapped(name)) && r.o.Format == "" {
		if name = "csv"; bytes.IndexByte([]byte("{["), firstByte(head)) >= 0 {
			name = "jsonl"
		}
	}
	if name == "" && r.lengths && hasLengths(headerOf(head)) {
		name = "csv"
	}
	if name == "" {
		return r.unknownFormat(head)
	}
	f, err := Formats.Get(name)
	if err != nil {
		return err
	}
	r.format, r.rep.Format = f, name
	if len(r.o.Map) > 0 && !f.General {
		return &capcli.RequestError{Field: "map", Text: "is for csv, jsonl and parquet; " + r.in.Name + " is read as " + name, Hint: "name the format: csv, jsonl or parquet"}
	}
	if !f.Binary && bytes.IndexByte(head, 0) >= 0 {
		return r.fault(0, "", "expected text, plain or packed with gzip or zstd; found binary data", "unpack or convert it first")
	}
	return nil
}

// mapped reports whether a format reads the columns that Options.Map names.
func mapped(name string) bool {
	f, err := Formats.Get(name)
	return err == nil && f.General
}

// firstByte returns the first byte of head that is no blank.
func firstByte(head []byte) byte {
	for _, c := range bytes.TrimPrefix(head, []byte("\ufeff")) {
		if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c
		}
	}
	return 0
}

// unknownFormat returns the error for a file of no known format, with what its header lacks.
func (r *Reader) unknownFormat(head []byte) error {
	if bytes.IndexByte(head, 0) >= 0 {
		return r.fault(0, "", "expected text, plain or packed with gzip or zstd; found binary data", "unpack or convert it first")
	}
	if bytes.Contains(head, []byte(`"resultType"`)) {
		return r.fault(1, "", "this is an answer of Prometheus, not a trace of requests", "say what kind of server told it: --metrics vllm")
	}
	names := headerOf(head)
	if len(names) > 1 {
		return r.lacking(1, names)
	}
	line, _, _ := bytes.Cut(head, []byte{'\n'})
	return r.fault(1, "", "the format is not recognised: the file begins with "+capcli.Quoted(string(bytes.TrimRight(line, "\r"))),
		"name it: "+formatNames()+"; or give a CSV with the columns "+strings.Join(Columns[:3], ", "))
}

// EachRow yields the requests in the order of the file; row is valid until the next. It can be used once.
func (r *Reader) EachRow(ctx context.Context, yield func(row *Row) error) error {
	if r.used {
		return fmt.Errorf("reading %s: a trace can be read only once", r.in.Name)
	}
	r.used = true
	r.yield = func(row *Row) error {
		if r.rep.Kept%oftenRows == 0 {
			if err := ctx.Err(); err != nil {
				return context.Cause(ctx)
			}
			if r.o.Progress != nil {
				r.o.Progress(r.rep.Kept)
			}
		}
		return yield(row)
	}
	if err := r.format.Read(r); err != nil {
		return capcli.NameFile(err, r.in.Name)
	}
	if !r.format.Binary {
		if err := r.endError(); err != nil {
			return err
		}
	}
	if r.rep.Kept == 0 {
		return r.emptyError()
	}
	return nil
}

// emptyError returns the error for a trace without a request.
func (r *Reader) emptyError() error {
	switch {
	case r.rep.Failed > 0:
		return r.fault(0, "tokens_out", fmt.Sprintf("none of %s rows has tokens out", capcli.Grouped(r.rep.Rows)),
			"a trace needs the tokens of each answer; without them give rates and lengths: requests: {rate: 2/s, tokens_in: …, tokens_out: …}")
	case r.rep.Empty > 0:
		return r.fault(0, "tokens_in", fmt.Sprintf("none of %s rows has tokens in", capcli.Grouped(r.rep.Rows)), "a trace needs the tokens of each prompt")
	case r.rep.Bad > 0:
		return r.fault(0, "", fmt.Sprintf("none of %s rows is valid; the first: %s", capcli.Grouped(r.rep.Rows), r.rep.FirstBad), "check that the format is "+r.rep.Format)
	}
	return r.fault(0, "", "there is no request in it", "check how it was exported")
}

// Report returns what was read so far.
func (r *Reader) Report() Report {
	rep := r.rep
	rep.Notes = append([]string{}, r.rep.Notes...)
	return rep
}

// Dated reports whether arrivals are microseconds since 1970; else they count from the file's own 0.
func (r *Reader) Dated() bool { return r.dated }

// Users and Models return the names to which rows refer; the first is "", unknown.
func (r *Reader) Users() []string { return r.users.list }

// Models returns the names of models.
func (r *Reader) Models() []string { return r.models.list }

// Input returns the input, for formats that need random access.
func (r *Reader) Input() trace.Input { return r.in }

// Body returns the unpacked input, for formats that are no lines.
func (r *Reader) Body() io.Reader { return r.text }

// Note adds a remark, once.
func (r *Reader) Note(text string) {
	if !slices.Contains(r.rep.Notes, text) {
		r.rep.Notes = append(r.rep.Notes, text)
	}
}

// nextLine returns the next line that is not blank and no comment.
func (r *Reader) nextLine() (line []byte, n int, ok bool) {
	for {
		line, ok = r.text.Next()
		if !ok || len(bytes.TrimSpace(line)) > 0 && line[0] != '#' {
			return line, r.text.Line(), ok
		}
	}
}

// Keep passes a request on. dated says whether its arrival is since 1970. line and field names are for
// errors. The error is that of the consumer, or a flaw of the row.
func (r *Reader) Keep(line int, row *Row, dated bool) error {
	if r.timed && r.dated != dated {
		return r.RejectRow(line, Columns[colArrival], "some times are dates and some are numbers from 0", "make all of one kind")
	}
	r.dated, r.timed = dated, true
	lo, hi := int64(0), maxOffset
	if dated {
		lo, hi = minDate, maxDate
	}
	if row.Arrival < lo || row.Arrival > hi {
		return r.RejectRow(line, Columns[colArrival], fmt.Sprintf("%d microseconds is outside %d to %d", row.Arrival, lo, hi), "check the unit of the times")
	}
	r.rep.Rows++
	if r.rep.Kept > 0 && row.Arrival < r.last {
		r.rep.Unordered++
	}
	if row.Cached > row.In {
		row.Cached = row.In
		r.rep.Clipped++
	}
	r.last = row.Arrival
	r.rep.Kept++
	return r.yield(row)
}

// RejectRow counts a row that is not valid, or returns it as an error.
func (r *Reader) RejectRow(line int, field, text, hint string) error {
	e := r.fault(line, field, text, hint)
	if !r.o.SkipBad {
		e.Hint = cmp.Or(e.Hint, "mend the row, or leave such rows out: --skip-bad")
		return e
	}
	r.rep.Rows++
	if r.rep.Bad++; r.rep.Bad == 1 {
		e.File = ""
		r.rep.FirstBad = e.Error()
	}
	return nil
}

func (r *Reader) fault(line int, field, text, hint string) *capcli.InputError {
	return &capcli.InputError{File: r.in.Name, Line: line, Field: field, Text: text, Hint: hint}
}

// endError returns the error with which the text ended; nil is its regular end.
func (r *Reader) endError() error {
	err, line := r.text.Err(), r.text.Line()+1
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return nil
	case errors.Is(err, capcli.ErrLongLine):
		return r.fault(line, "", err.Error(), "check that this is a trace of requests")
	case errors.Is(err, io.ErrUnexpectedEOF):
		e := r.fault(0, "", fmt.Sprintf("is cut short: the packed data ends in the middle of line %d", line), "check the copy")
		e.Err = err
		return e
	}
	e := r.fault(line, "", "cannot be read on: "+err.Error(), "check the copy")
	e.Err = err
	return e
}

// names numbers different texts from 1; 0 is "".
type names struct {
	list []string
	by   map[string]int32
}

func newNames() names { return names{[]string{""}, map[string]int32{"": 0}} }

// number returns the number of b. It reports false where there are too many texts.
func (n *names) number(b []byte) (int32, bool) {
	if i, known := n.by[string(b)]; known {
		return i, true
	}
	if len(n.list) > maxNames {
		return 0, false
	}
	s := string(b)
	i := int32(len(n.list)) //nolint:gosec // at most maxNames
	n.list = append(n.list, s)
	n.by[s] = i
	return i, true
}
