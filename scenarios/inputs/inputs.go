// Package inputs makes one jobs file of what there is: job logs, recordings of GPUs, tables of GPUs by time, loads
// of services, and bills. It finds out what each file or folder is, joins them by job, name and time, and says
// what it took from each.
package inputs

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"

	"capcli"
	"capcli/forecast/demand"
	"capcli/profile/logs/jobfile"
	"capcli/profile/logs/trace"
	"capcli/scenarios/money/prices"
)

// Kind is what an input is.
type Kind string

// The kinds of inputs.
const (
	Log       Kind = "job log"
	Recording Kind = "recording"     // a folder or a bucket that capcli profile wrote
	Table     Kind = "table of GPUs" // GPUs in use by time: CSV, JSON lines or a stored answer of Prometheus
	Service   Kind = "service"       // the description of a service, whose load is sized at its promise
	Requests  Kind = "requests"      // a trace of requests, for the service beside it
	Bill      Kind = "bill"          // in FOCUS
	Events    Kind = "events"        // planned events; not read here
	Kinds     Kind = "kinds"         // how work is told apart; not read here
)

// Input is a file or folder, and what was taken from it. Jobs of other GPU models than asked for do not count.
type Input struct {
	File string `json:"file"`
	// SHA256 is the hash of the file; of a folder, of the jobs that it gave.
	SHA256   string         `json:"sha256"`
	Kind     Kind           `json:"kind"`
	Jobs     int64          `json:"jobs"`
	Days     float64        `json:"days"`      // that it covers
	GPUHours capcli.GPUTime `json:"gpu_hours"` // wanted by its jobs; of a bill, in use
	Took     string         `json:"took"`      // the same in words
}

// The values of Request.Joined.
const (
	Apart = "apart" // the inputs are of different machines: all of them count
	Same  = "same"  // they are of the same machines: what two of them cover counts once
)

// Request names the inputs.
type Request struct {
	Names   []string
	Read    trace.Request // how to read job logs
	Joined  string        // Apart or Same, for inputs that do not say it by the ids and names of their jobs; "" asks
	GPU     string        // the model that counts; "" is every one
	Prices  *prices.List  // says how many GPUs the machines of a bill have
	Sources demand.Sources
	// Keep returns what make made of the same key before, or makes and keeps it; nil keeps nothing.
	Keep func(key string, make func() ([]byte, error)) ([]byte, error)
}

// Set is what was read.
type Set struct {
	List  []Input
	Bill  *Billed // nil where there is none
	Notes []string
	// Jobs names the inputs that give jobs: what capcli import reads.
	Jobs []string
	// Name is the name of what Import reads: the log, or all inputs that give jobs.
	Name string
	// Lasts is the time from the first sample of the recordings to the last; 0 where there are none.
	Lasts capcli.Seconds

	joined []byte // jobs as JSON lines; nil where one log is read as it is
}

// CheckJoined returns a *capcli.RequestError for a text that is no value of Request.Joined.
func CheckJoined(text string) error {
	if text == "" || text == Apart || text == Same {
		return nil
	}
	return &capcli.RequestError{Field: "joined", Text: fmt.Sprintf("wants %s or %s, found %q", Apart, Same, text), Hint: "apart: the inputs are of different machines; same: what two of them cover counts once"}
}

// IsPlain reports whether the set is one job log, which is read as it is.
func (s *Set) IsPlain() bool { return s.joined == nil }

// Has reports whether an input is of a kind.
func (s *Set) Has(k Kind) bool {
	return slices.ContainsFunc(s.List, func(in Input) bool { return in.Kind == k })
}

// Sum returns the hash of the jobs of a set that is not plain.
func (s *Set) Sum() string { return sumOf(s.joined) }

func sumOf(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

type part struct {
	Input
	jobs []capcli.Job
}

// reading is a set in the making.
type reading struct {
	*Request
	set      *Set
	parts    []*part
	services []*load
}

// Read reads the inputs. It fails with *capcli.InputError, with *capcli.RequestError, and with a
// *capcli.ResultError of the kind NoPlan where only the user knows whether two inputs are of the same machines.
func Read(ctx context.Context, q *Request) (*Set, error) {
	if err := CheckJoined(q.Joined); err != nil {
		return nil, err
	}
	r := &reading{Request: q, set: &Set{}}
	plain, err := r.find()
	if err != nil || plain {
		return r.set, err
	}
	for _, read := range []func(context.Context) error{r.readLogs, r.readRecordings, r.readTables, r.readBills, r.readServices} {
		if err := read(ctx); err != nil {
			return nil, err
		}
	}
	jobs, err := r.join()
	if err != nil {
		return nil, err
	}
	return r.set, r.finish(jobs)
}

// find finds out what each input is. It reports whether they are one job log: one file, or several that its
// format reads together.
func (r *reading) find() (plain bool, err error) {
	if f := r.Read.Format; f != "" && f != "auto" && len(r.Names) > 1 {
		return true, r.findNamed()
	}
	for _, name := range r.Names {
		k, err := r.kindOf(name)
		if err != nil {
			return false, err
		}
		r.parts = append(r.parts, &part{Input: Input{File: name, Kind: k}})
		r.set.List = append(r.set.List, Input{File: name, Kind: k})
	}
	if r.parts[0].Kind != Log {
		return false, nil
	}
	r.set.Name, r.set.Jobs = r.Names[0], r.Names
	if len(r.parts) == 1 {
		return true, nil
	}
	if len(r.partsOf(Recording))+len(r.partsOf(Service))+len(r.partsOf(Bill)) > 0 {
		return false, nil
	}
	if plain, err = r.readsSeveral(r.Names[0]); plain {
		for i := range r.set.List {
			r.set.List[i].Kind = Log
		}
	}
	return plain, err
}

// findNamed takes the inputs for files that the named format reads together.
func (r *reading) findNamed() error {
	opts, err := r.Read.Parse()
	if err != nil {
		return err
	}
	r.set.Name, r.set.Jobs = r.Names[0], r.Names
	for _, name := range r.Names {
		r.set.List = append(r.set.List, Input{File: name, Kind: Log})
	}
	return trace.CheckCount(opts.Format, len(r.Names))
}

func (r *reading) partsOf(k Kind) []*part {
	var out []*part
	for _, p := range r.parts {
		if p.Kind == k {
			out = append(out, p)
		}
	}
	return out
}

// readsSeveral reports whether the format of a log is one of several files.
func (r *reading) readsSeveral(name string) (bool, error) {
	opts, err := r.Read.Parse()
	if err != nil {
		return false, err
	}
	if opts.Format == "" {
		in, closer, err := r.Sources.Open(name)
		if err != nil {
			return false, err
		}
		defer closer.Close() //nolint:errcheck // it was only read
		log, err := trace.Open(in, opts)
		if err != nil {
			return false, err
		}
		opts.Format = log.Report().Format
	}
	f, err := trace.Formats.Get(opts.Format)
	return f.Several, err
}

// readLogs reads the jobs of each job log.
func (r *reading) readLogs(ctx context.Context) error {
	opts, err := r.Read.Parse()
	if err != nil {
		return err
	}
	at, end := r.progress("jobs")
	n := int64(0)
	for _, p := range r.partsOf(Log) {
		if err := r.readLog(ctx, p, opts, func(done int64) { at(n + done) }); err != nil {
			return err
		}
		n += int64(len(p.jobs))
	}
	end(n)
	return nil
}

func (r *reading) readLog(ctx context.Context, p *part, opts trace.Options, at func(int64)) error {
	in, closer, err := r.Sources.Open(p.File)
	if err != nil {
		return err
	}
	defer closer.Close() //nolint:errcheck // it was only read
	h := sha256.New()
	if in.At == nil {
		in.R = io.TeeReader(in.R, h)
	} else if _, err := io.Copy(h, io.NewSectionReader(in.At, 0, in.Size)); err != nil {
		return fmt.Errorf("cannot read %s: %w", p.File, err)
	}
	log, err := trace.Open(in, opts)
	if err != nil {
		return err
	}
	for j, err := range capcli.WatchJobs(ctx, log.Jobs(), at) {
		if err != nil {
			return err
		}
		p.jobs = append(p.jobs, j)
	}
	p.SHA256 = hex.EncodeToString(h.Sum(nil))
	rep := log.Report()
	r.note(p.File, rep.Notes...)
	if rep.Rejected > 0 {
		r.note(p.File, fmt.Sprintf("%s of %s rows were rejected; capcli import auto %s says which", capcli.Grouped(rep.Rejected), capcli.Grouped(rep.Rows), capcli.ShellWord(p.File)))
	}
	if rep.Cut {
		r.note(p.File, "it is cut short: the demand after its end is too low")
	}
	return nil
}

// note adds remarks on an input.
func (r *reading) note(name string, texts ...string) {
	for _, text := range texts {
		r.set.Notes = append(r.set.Notes, name+": "+text)
	}
}

func (r *reading) progress(unit string) (at, end func(int64)) {
	if r.Sources.Progress == nil {
		return func(int64) {}, func(int64) {}
	}
	return r.Sources.Progress(unit)
}

func (r *reading) counts(model string) bool {
	return (&jobfile.Only{GPU: r.GPU, Same: prices.SameModel}).Wants(model)
}

// finish fills in the list, and writes the jobs.
func (r *reading) finish(jobs []capcli.Job) error {
	s := r.set
	var names []string
	for i, p := range r.parts {
		r.fill(p)
		s.List[i] = p.Input
		if p.Kind != Bill || len(p.jobs) > 0 {
			names = append(names, p.File)
		}
	}
	if len(jobs) == 0 {
		return &capcli.InputError{File: r.Names[0], Text: "expected jobs, found none in " + listed(len(r.Names), "input"), Hint: "give a job log, a folder that capcli profile wrote, or a service with its requests"}
	}
	s.Jobs, s.Name = names, strings.Join(names, " + ")
	var err error
	s.joined, err = jobLines(jobs)
	return err
}

func listed(n int, what string) string {
	return fmt.Sprintf("%d %s", n, capcli.Plural(int64(n), what))
}

// fill sums what was taken of an input.
func (r *reading) fill(p *part) {
	if p.Took != "" {
		return
	}
	some := slices.Clone(p.jobs)
	p.Take(slices.DeleteFunc(some, func(j capcli.Job) bool { return !r.counts(j.GPUModel) }))
}

// Take sums the jobs that were taken of an input. Jobs without GPUs do not count.
func (p *Input) Take(jobs []capcli.Job) {
	first, last := capcli.NoTime, capcli.NoTime
	for i := range jobs {
		j := &jobs[i]
		if j.Milli() == 0 {
			continue
		}
		p.Jobs++
		p.GPUHours += j.Work()
		if !first.IsKnown() || j.Submit < first {
			first = j.Submit
		}
		last = max(last, j.Submit)
	}
	if first.IsKnown() {
		p.Days = cmp.Or(p.Days, daysOf(capcli.Seconds(last-first)))
	}
	p.Took = fmt.Sprintf("%s %s, %s GPU-hours, %s", capcli.Grouped(p.Jobs), capcli.Plural(p.Jobs, "job"), hoursText(p.GPUHours.Hours()), DaysText(p.Days))
}

// daysOf returns days, to the tenth.
func daysOf(s capcli.Seconds) float64 {
	return float64((int64(s)*10+int64(capcli.Day)/2)/int64(capcli.Day)) / 10
}

// DaysText writes a number of days.
func DaysText(days float64) string {
	if days == 1 {
		return "1 day"
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", days), ".0") + " days"
}

func hoursText(v float64) string {
	if v < 10 {
		return fmt.Sprintf("%.1f", v)
	}
	return capcli.Grouped(int64(v + 0.5))
}

// Import writes the jobs of the set as r says; the inputs of r are not read where the set is not plain. It fails as
// jobfile.Import does.
func (s *Set) Import(ctx context.Context, r *jobfile.Request) (*jobfile.Result, error) {
	if s.IsPlain() {
		return jobfile.Import(ctx, r)
	}
	q := *r
	q.Input, q.More = s.Name, nil
	q.Options = trace.Options{Format: "jsonl", TZ: r.Options.TZ}
	q.Open = func(string) (trace.Input, io.Closer, error) {
		b := bytes.NewReader(s.joined)
		return trace.Input{Name: s.Name, R: b, At: b, Size: int64(len(s.joined))}, io.NopCloser(nil), nil
	}
	out, err := jobfile.Import(ctx, &q)
	if err != nil {
		return nil, err
	}
	out.Notes = append(slices.Clone(s.Notes), out.Notes...)
	return out, nil
}

func (r *reading) hash(name string) (string, error) { return Hash(r.Sources.Open, name) }

// Hash returns the hash of a file, in hexadecimal.
func Hash(open trace.Opener, name string) (string, error) {
	in, closer, err := open(name)
	if err != nil {
		return "", err
	}
	defer closer.Close() //nolint:errcheck // it was only read
	h := sha256.New()
	if _, err := io.Copy(h, in.R); err != nil {
		return "", fmt.Errorf("cannot read %s: %w", name, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// jobLines writes jobs as JSON lines.
func jobLines(jobs []capcli.Job) ([]byte, error) {
	var b bytes.Buffer
	err := trace.WriteJSONL(&b, capcli.StreamJobs(jobs))
	return b.Bytes(), err
}
