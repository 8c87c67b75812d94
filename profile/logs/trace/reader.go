package trace

import (
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"capcli"
)

// Bounds on the values of a job. A row outside them is rejected.
const (
	maxGPUs   = 10_000_000
	maxRun    = capcli.Seconds(50 * 365.25 * 86400)
	firstTime = capcli.Time(0)                          // 1970-01-01
	lastTime  = capcli.Time(7258118400)                 // 2200-01-01
	maxJob    = capcli.GPUTime(1e14) * capcli.GPUSecond // work of one job
	maxWork   = capcli.GPUTime(4e15) * capcli.GPUSecond // work of all jobs: sums stay under 2^63
)

// maxReasons is the most different reasons that a tally counts separately.
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
	keptLine         int              // line of the last kept job
	lastID           string           // id of the last kept job
	lastSubmit       capcli.Time      // submit of the last kept job
	lastReject       int              // line of the last rejected row
	tagNames         []string         // see TagNames
	mayBeEmpty       bool             // the input is whole without a job
	lastUnit         int64            // unit of times that was noted last, per second
	dates            capcli.DateOrder // of dates whose year comes last

	yield         func(capcli.Job, error) bool
	used, stopped bool
}

func newReader(in Input, o Options) *Reader {
	return &Reader{
		in: in, o: o,
		rep:     Report{First: capcli.NoTime, Last: capcli.NoTime, AsOf: capcli.NoTime, Notes: []string{}},
		reasons: map[string]int64{}, assumed: map[string]int64{},
		seen: &idTable{hashes: map[uint64]struct{}{}},
	}
}

// Jobs yields the jobs in the order of the file. It can be used once; a second pass yields
// an error. An error ends the stream.
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

// AllowEmpty says that the input tells of something else than jobs: it is whole without one where
// Options.TablesOnly is set.
func (r *Reader) AllowEmpty() { r.mayBeEmpty = true }

// checkAny returns an error if no job was kept.
func (r *Reader) checkAny() error {
	if r.rep.Kept > 0 || r.mayBeEmpty && r.o.TablesOnly && r.rep.Rejected == 0 {
		return nil
	}
	if r.rep.Rejected == 0 {
		return r.fault(0, "", fmt.Sprintf("there is no job in it: expected rows of format %s", r.rep.Format), "check how it was exported")
	}
	top := counts(r.reasons)[0]
	return r.fault(0, "", fmt.Sprintf("all %d rows were rejected, %d of them because: %s", r.rep.Rejected, top.N, top.Reason),
		"check that the format is "+r.rep.Format)
}

// Report returns what was read so far. It is complete when Jobs has ended.
func (r *Reader) Report() Report {
	rep := r.rep
	rep.Reasons, rep.Assumed = counts(r.reasons), counts(r.assumed)
	return rep
}

// Input returns the input of the reader.
func (r *Reader) Input() Input { return r.in }

// Options returns the options with which the reader was opened.
func (r *Reader) Options() Options { return r.o }

// Keep counts the row and yields job, or rejects the row where job breaks a bound. line and
// row are the number and the text of the row, for a rejection. When Keep returns false the
// format must return nil at once.
func (r *Reader) Keep(line int, row []byte, job *capcli.Job) bool {
	if reason := r.check(job); reason != "" {
		return r.Reject(line, row, reason)
	}
	r.rep.Rows++
	r.rep.Kept++
	r.keptLine = line
	r.note(job)
	if !r.yield(*job, nil) {
		r.stopped = true
	}
	return !r.stopped
}

// JobLine returns the line of the last job: its row, or where its object begins.
func (r *Reader) JobLine() int { return r.keptLine }

func (r *Reader) note(job *capcli.Job) {
	if job.Start.IsKnown() && job.Start < job.Submit {
		r.Assume("started before its submit: kept unchanged")
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

// check returns the reason why job must be rejected, or "".
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
	case job.Eligible.IsKnown() && isOutOfRange(job.Eligible):
		return "eligible: outside 1970 to 2200"
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
	case job.GPUMemMiB < 0:
		return "GPU memory: negative"
	}
	if reason := checkNames(job); reason != "" {
		return reason
	}
	r.settleEligible(job)
	return r.checkSum(job)
}

// settleEligible drops an eligible time that says no more than the submit, and ends it at the start:
// a job that started was eligible then.
func (r *Reader) settleEligible(job *capcli.Job) {
	if job.Start.IsKnown() && job.Eligible > job.Start && job.Eligible > job.Submit {
		r.Assume("eligible after its start: taken as eligible at its start")
		job.Eligible = job.Start
	}
	if job.Eligible <= job.Submit {
		job.Eligible = capcli.NoTime
	}
}

// checkNames returns the reason for the first text of job that is not UTF-8, or "". JSON can
// only hold UTF-8: two different invalid names could become the same name there.
func checkNames(job *capcli.Job) string {
	for _, col := range [...]int{colID, colTenant, colPartition, colModel, colClass, colState} {
		if !utf8.ValidString(*textOf(job, col)) {
			return Columns[col] + ": not valid UTF-8"
		}
	}
	return ""
}

// checkSum returns the reason why job must be rejected for its work, for the work of the
// log so far, or for a repeated id; else "". It sets a limit over 50 years to none.
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

// Reject counts a row as rejected, with the reason, and passes it to Options.Rejects. When
// it returns false the format must return nil at once.
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

// Fold counts n rows that are part of another row's job.
func (r *Reader) Fold(n int64) {
	r.rep.Rows += n
	r.rep.Folded += n
}

// Assume counts an assumption about a job.
func (r *Reader) Assume(what string) { tally(r.assumed, what) }

// tally counts reason in m, or as "other reasons" where m is full.
func tally(m map[string]int64, reason string) {
	if _, known := m[reason]; !known && len(m) >= maxReasons {
		reason = "other reasons"
	}
	m[reason]++
}

// Note adds a remark for the user to the report, unless it is there already.
func (r *Reader) Note(what string) {
	if !slices.Contains(r.rep.Notes, what) {
		r.rep.Notes = append(r.rep.Notes, what)
	}
}

// SetMachine records the size of the machine, in GPUs, as the log states it; 0 is ignored.
func (r *Reader) SetMachine(gpus int) {
	if n := int64(gpus); n != 0 {
		r.rep.MachineGPUs = &n
	}
}

// Line returns the next line of the text, without its line end, and its number from 1. The
// line is valid until the next call. ok is false at the end of the text and after an error;
// Jobs yields the error.
func (r *Reader) Line() (line []byte, n int, ok bool) {
	line, ok = r.text.Next()
	return line, r.text.Line(), ok
}

// Body returns the decompressed input, for formats that do not consist of lines.
func (r *Reader) Body() io.Reader { return r.text }
