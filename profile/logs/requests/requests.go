// Package requests reads traces of requests to language models: when each came, its tokens in and out,
// and where known how many a prefix cache supplied, whose it was and for which model.
//
// Open finds the format and yields requests in the order of the file. Read holds a whole trace, in order
// of arrival. Describe sums one up in one pass.
//
// To add a format, write a file whose init adds it to Formats; NAME_test.go has a sample and a fuzz target.
package requests

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"capcli"
	"capcli/profile/logs/trace"
)

// Row is one request.
type Row struct {
	Arrival int64 // microseconds: since Trace.Start in a Trace; while reading, since 1970 or since the file's own 0
	In, Out int64 // tokens, at least 1 each
	Cached  int64 // tokens of the prompt that a prefix cache supplies, at most In
	Prefix  int64 // number of the prefix that requests share; 0 is none
	User    int32 // index in Trace.Users; 0 is unknown
	Model   int32 // index in Trace.Models; 0 is unknown
}

// Trace is a whole trace, in order of arrival. Requests of one instant keep the order of the file.
type Trace struct {
	Rows    []Row
	Start   int64 // microseconds since 1970 of Arrival 0; NoStart where the trace has no dates
	Users   []string
	Models  []string
	Report  Report
	Input   string
	Because string // why a start is unknown; "" where it is known
}

// NoStart is the start of a trace whose times are no dates.
const NoStart = int64(capcli.NoTime)

// StartTime returns the second in which the trace starts, or capcli.NoTime.
func (t *Trace) StartTime() capcli.Time {
	if t.Start == NoStart {
		return capcli.NoTime
	}
	return capcli.Time(floorDiv(t.Start, Second))
}

// Second is a second in microseconds.
const Second = int64(1e6)

// Options say how to read a trace. The zero value finds the format.
type Options struct {
	Format   string            // name in Formats; "" finds it
	TZ       *time.Location    // zone of times without one; nil is UTC
	Unit     int64             // units of times that are numbers, per second; 0 tells them from column and size
	Map      map[string]string // our column -> their column
	SkipBad  bool              // leave out rows that are not valid, and count them; else the first is an error
	Progress func(rows int64)  `json:"-"` // called now and then; nil reports nothing
}

// MaxRows is the most rows that Read holds: some 2.5 GB.
const MaxRows = 50_000_000

// Format is one format of request traces.
type Format struct {
	// Sniff reports whether a file that begins with head has this format.
	Sniff func(head []byte) bool
	// Read passes each request to the reader with Add or Keep, and returns the first error of those.
	Read func(r *Reader) error
	// General says that the format fits files of any maker: others are tried before it.
	General bool
	// Binary says that the content is no text.
	Binary bool
}

// Formats are the formats of request traces.
var Formats = capcli.Catalog[Format]{Kind: "format of request traces"}

// Report says what was read.
type Report struct {
	Format    string   `json:"format"`
	Rows      int64    `json:"rows"`            // rows of data
	Kept      int64    `json:"requests"`        // requests
	Failed    int64    `json:"failed"`          // rows without an answer: no tokens out
	Empty     int64    `json:"without_prompt"`  // rows without tokens in
	Bad       int64    `json:"rejected"`        // rows that are not valid, left out because Options.SkipBad is set
	FirstBad  string   `json:"first_rejected"`  // why the first of them is not valid
	Unordered int64    `json:"out_of_order"`    // requests that came before the one that precedes them in the file
	Clipped   int64    `json:"cached_over_all"` // requests whose cached tokens were more than their prompt: taken as all of it
	Notes     []string `json:"notes"`
}

// Remarks returns sentences for the reader of a result.
func (r *Report) Remarks() []string {
	var out []string
	say := func(n int64, text string) {
		if n > 0 {
			out = append(out, capcli.Grouped(n)+" of "+capcli.Grouped(r.Rows)+" rows "+text)
		}
	}
	say(r.Failed, "have no tokens out: failed requests, left out")
	say(r.Empty, "have no tokens in: left out")
	say(r.Bad, "are not valid and left out; the first: "+r.FirstBad)
	say(r.Unordered, "came before the row above them: sorted by arrival")
	say(r.Clipped, "have more cached tokens than tokens in: taken as all of the prompt")
	return append(out, r.Notes...)
}

// Read reads a whole trace and sorts it by arrival. It fails with a *capcli.InputError that names file,
// line and field.
func Read(ctx context.Context, in trace.Input, o Options) (*Trace, error) {
	r, err := Open(in, o)
	if err != nil {
		return nil, err
	}
	t := &Trace{Input: in.Name, Start: NoStart}
	err = r.EachRow(ctx, func(row *Row) error {
		if len(t.Rows) >= MaxRows {
			return r.fault(0, "", fmt.Sprintf("there are over %s requests, the most that are held at once", capcli.Grouped(MaxRows)),
				"take a part of the trace, or describe it and give its rates and lengths")
		}
		t.Rows = append(t.Rows, *row)
		return nil
	})
	if err != nil {
		return nil, err
	}
	t.Report, t.Users, t.Models = r.Report(), r.Users(), r.Models()
	if t.Report.Unordered > 0 {
		slices.SortStableFunc(t.Rows, func(a, b Row) int { return cmp.Compare(a.Arrival, b.Arrival) })
	}
	if !r.Dated() {
		t.Because = "the times of " + in.Name + " are no dates"
		return t, nil
	}
	t.Start = t.Rows[0].Arrival
	for i := range t.Rows {
		t.Rows[i].Arrival -= t.Start
	}
	return t, nil
}

// ReadFile opens a file and reads it as Read does.
func ReadFile(ctx context.Context, open trace.Opener, name string, o Options) (*Trace, error) {
	in, done, err := open(name)
	if err != nil {
		return nil, err
	}
	defer done.Close() //nolint:errcheck // it was only read
	return Read(ctx, in, o)
}

// floorDiv returns a / b rounded down; b is positive.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func formatNames() string { return strings.Join(Formats.Names(), ", ") }

// ReadLengths reads the lengths of requests: a trace of any format, or a table that has tokens_in and
// tokens_out and no times, whose rows then all arrive at 0.
func ReadLengths(ctx context.Context, in trace.Input, o Options) ([]Row, Report, error) {
	var rows []Row
	r, err := open(in, o, true)
	if err != nil {
		return nil, Report{}, err
	}
	err = r.EachRow(ctx, func(row *Row) error {
		if len(rows) >= MaxRows {
			return r.fault(0, "", fmt.Sprintf("there are over %s requests", capcli.Grouped(MaxRows)), "take a part of them")
		}
		rows = append(rows, *row)
		return nil
	})
	rep := r.Report()
	rep.Unordered = 0
	return rows, rep, err
}
