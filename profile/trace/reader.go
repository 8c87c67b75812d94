package trace

import (
	"fmt"
	"io"
	"unicode/utf8"

	"capcli"
)

// Bounds on what a job may say. Outside them a row is rejected.
const (
	maxGPUs   = 10_000_000
	maxRun    = capcli.Seconds(50 * 365.25 * 86400)
	firstTime = capcli.Time(0)          // 1970-01-01
	lastTime  = capcli.Time(7258118400) // 2200-01-01
	maxJob    = capcli.GPUTime(1e14) * capcli.GPUSecond
	maxWork   = capcli.GPUTime(4e15) * capcli.GPUSecond // of all jobs: sums stay under 2^63
)

// maxReasons bounds how many different reasons are told apart.
const maxReasons = 1000

// Reader is one pass over one log. A Format reads through it.
type Reader struct {
	in     Input
	o      Options
	format Format
	text   *capcli.LineReader
	packed string // "gzip", "zstd" or ""

	rep              Report
	reasons, assumed map[string]int64
	seen             *idTable
	work             capcli.GPUTime
	lastID           string
	lastSubmit       capcli.Time
	lastReject       int // its line

	yield         func(capcli.Job, error) bool
	used, stopped bool
}

func newReader(in Input, o Options) *Reader {
	return &Reader{
		in: in, o: o,
		rep:     Report{First: capcli.NoTime, Last: capcli.NoTime, Notes: []string{}},
		reasons: map[string]int64{}, assumed: map[string]int64{},
		seen: newIDTable(),
	}
}

// Jobs gives the jobs in the order of the file, once. An error ends it.
func (r *Reader) Jobs() capcli.Jobs {
	return func(yield func(capcli.Job, error) bool) {
		if r.used {
			yield(capcli.Job{}, fmt.Errorf("reading %s: a trace can be read only once", r.in.Name))
			return
		}
		r.used, r.yield = true, yield
		err := r.format.Read(r)
		if r.stopped {
			return
		}
		if err == nil && !r.format.Binary {
			err = r.endError()
		}
		if err == nil {
			err = r.checkAny()
		}
		if r.text.EndsOpen() && r.lastReject == r.text.Line() {
			r.Note("the last line has no end and was rejected: the file may be cut short")
		}
		if err != nil {
			r.stopped = true
			yield(capcli.Job{}, err)
		}
	}
}

// checkAny refuses a log in which there is not one job.
func (r *Reader) checkAny() error {
	if r.rep.Kept > 0 {
		return nil
	}
	if r.rep.Rejected == 0 {
		return r.fault(0, "", fmt.Sprintf("there is no job in it: expected rows of format %s", r.rep.Format), "check how it was exported")
	}
	top := counts(r.reasons)[0]
	return r.fault(0, "", fmt.Sprintf("all %d rows were rejected, %d of them because: %s", r.rep.Rejected, top.N, top.Reason),
		"check that the format is "+r.rep.Format)
}

// Report says what was read so far; it is complete when Jobs has ended.
func (r *Reader) Report() Report {
	rep := r.rep
	rep.Reasons, rep.Assumed = counts(r.reasons), counts(r.assumed)
	return rep
}

// Input is what the reader was opened on.
func (r *Reader) Input() Input { return r.in }

// Options are those the reader was opened with.
func (r *Reader) Options() Options { return r.o }

// Keep gives job out, unless it breaks a bound, in which case it is rejected.
// It counts the row. line and row are where it stood, for a rejection. When it
// returns false the format must return nil at once.
func (r *Reader) Keep(line int, row []byte, job *capcli.Job) bool {
	if reason := r.check(job); reason != "" {
		return r.Reject(line, row, reason)
	}
	r.rep.Rows++
	r.rep.Kept++
	r.note(job)
	if !r.yield(*job, nil) {
		r.stopped = true
	}
	return !r.stopped
}

func (r *Reader) note(job *capcli.Job) {
	if job.Start.IsKnown() && job.Start < job.Submit {
		r.Assume("started before its submit: kept as it stands")
	}
	if r.lastID != "" && job.Submit < r.lastSubmit {
		r.rep.Unsorted = true
	}
	r.lastID, r.lastSubmit = job.ID, job.Submit
	if !r.rep.First.IsKnown() || job.Submit < r.rep.First {
		r.rep.First = job.Submit
	}
	r.rep.Last = max(r.rep.Last, job.Submit)
	r.work += job.Work()
}

// check gives the reason why job cannot be one, or "".
func (r *Reader) check(job *capcli.Job) string {
	switch {
	case job.ID == "":
		return "job_id: missing"
	case !job.Submit.IsKnown():
		return "submit: missing"
	case isOutOfRange(job.Submit):
		return "submit: outside 1970 to 2200"
	case job.Start.IsKnown() && isOutOfRange(job.Start):
		return "start: outside 1970 to 2200"
	case job.End.IsKnown() && isOutOfRange(job.End):
		return "end: outside 1970 to 2200"
	case job.Deadline.IsKnown() && isOutOfRange(job.Deadline):
		return "deadline: outside 1970 to 2200"
	case job.Start.IsKnown() && job.End.IsKnown() && job.End < job.Start:
		return "end before start"
	case job.Run < 0:
		return "run time: negative"
	case job.Run > maxRun:
		return "run time: over 50 years"
	case job.Limit < 0:
		return "limit: negative"
	case job.GPUs < 0 || job.GPUMilli < 0:
		return "gpus: negative"
	case job.GPUs > maxGPUs || job.GPUMilli > 1000:
		return "gpus: over 10 million"
	case job.CPUMilli < 0:
		return "cpus: negative"
	case job.MemMiB < 0:
		return "memory: negative"
	}
	if reason := checkNames(job); reason != "" {
		return reason
	}
	return r.checkSum(job)
}

// checkNames gives the first name of job that is not UTF-8. JSON has no other text:
// two such names would become one there.
func checkNames(job *capcli.Job) string {
	for _, col := range [...]int{colID, colTenant, colPartition, colModel, colClass, colState} {
		if !utf8.ValidString(*textOf(job, col)) {
			return Columns[col] + ": not valid UTF-8"
		}
	}
	return ""
}

func (r *Reader) checkSum(job *capcli.Job) string {
	if job.Limit > maxRun {
		job.Limit = 0
		r.Assume("limit over 50 years: taken as none")
	}
	if int64(job.Run) > int64(maxJob)/max(job.Milli(), 1) {
		return "work: one job over 28 billion GPU-hours"
	}
	if r.work > maxWork-job.Work() {
		return "work: the log goes over a trillion GPU-hours"
	}
	if r.seen.CheckAndAdd(job.ID) {
		return "duplicate job_id"
	}
	return ""
}

func isOutOfRange(t capcli.Time) bool { return t < firstTime || t > lastTime }

// Reject counts a row that is not taken and why. When it returns false the
// format must return nil at once.
func (r *Reader) Reject(line int, row []byte, reason string) bool {
	r.rep.Rows++
	r.rep.Rejected++
	r.lastReject = line
	tally(r.reasons, reason)
	if r.o.Rejects != nil {
		r.o.Rejects(Reject{Line: line, Reason: reason, Text: string(row)})
	}
	return !r.stopped
}

// Fold counts n rows that are part of a job told by another row.
func (r *Reader) Fold(n int64) {
	r.rep.Rows += n
	r.rep.Folded += n
}

// Assume counts something that was taken for granted about a kept job.
func (r *Reader) Assume(what string) { tally(r.assumed, what) }

func tally(m map[string]int64, reason string) {
	if _, known := m[reason]; !known && len(m) >= maxReasons {
		reason = "other reasons"
	}
	m[reason]++
}

// Note adds something the user should know, once.
func (r *Reader) Note(what string) {
	for _, n := range r.rep.Notes {
		if n == what {
			return
		}
	}
	r.rep.Notes = append(r.rep.Notes, what)
}

// SetMachine records the size of the machine that the log names, in GPUs.
func (r *Reader) SetMachine(gpus int) {
	if n := int64(gpus); n != 0 {
		r.rep.MachineGPUs = &n
	}
}

// Line gives the next line of the text without its end and its number from 1;
// false at the end, whatever the cause: Jobs finds out which. It is valid
// until the next call.
func (r *Reader) Line() (line []byte, n int, ok bool) {
	line, ok = r.text.Next()
	return line, r.text.Line(), ok
}

// Body is the decompressed input as bytes, for formats that are not lines.
func (r *Reader) Body() io.Reader { return r.text }
