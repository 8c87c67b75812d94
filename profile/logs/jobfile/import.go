package jobfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"path/filepath"
	"slices"

	"capcli"
	"capcli/profile/logs/trace"
)

// Request says which job log to read and how to write its jobs, in order of submit.
type Request struct {
	Input   string        // name of the log, for Open
	More    []string      // further files, which are read together with Input
	Open    trace.Opener  // opens the log, once for each pass
	Options trace.Options // how to read the log
	File    File          // what to write
	Only    *Only         // which jobs to write; nil writes all
	// Each changes a job before it is written, and reports whether it is written; nil changes none. Survey is given every
	// job that Only chooses before, in a pass of its own; it may be nil.
	Each   func(j *capcli.Job) bool
	Survey func(j *capcli.Job)
	// Begin starts a pass over the log. Import reads the log as a stream. Where its jobs are
	// not in order, one has an eligible time or a tag, or the log is truncated, Import begins another pass, and the caller drops
	// the output of the pass before.
	Begin func() (*Pass, error)
}

// Pass receives the output of one pass over a log.
type Pass struct {
	Jobs   io.Writer                // receives the jobs file
	Reject func(trace.Reject) error // called for each rejected row
	Done   func(jobs int64)         // called from time to time with the jobs read so far
	End    func(jobs int64)         // called at the end with the jobs written
}

// Result sums up an import. The caller sets Out, Bytes, Rejects and Unlisted.
type Result struct {
	Schema string `json:"schema"`
	Input  string `json:"input"`
	trace.Tally
	First      capcli.Time    `json:"first_submit"`
	Last       capcli.Time    `json:"last_submit"`
	Partitions int64          `json:"partitions"`
	Tenants    int64          `json:"tenants"`
	GPUHours   capcli.GPUTime `json:"gpu_hours"`
	Tags       []string       `json:"tags,omitempty"` // tags that jobs have, each a column of the file
	Machine    *int64         `json:"machine_gpus"`
	LeftOut    int64          `json:"other_gpus,omitempty"` // jobs that want other GPUs than asked for, beside those kept
	Gone       int64          `json:"other_part,omitempty"` // jobs of other tenants or times than asked for, beside those kept
	Unneeded   int64          `json:"unneeded,omitempty"`   // jobs that Request.Each left out, beside those kept
	Resorted   bool           `json:"resorted"`             // the jobs of the log were not in order and were sorted
	Partial    bool           `json:"partial"`              // the log is truncated
	Notes      []string       `json:"notes"`
	Out        string         `json:"out"`
	Bytes      int64          `json:"out_bytes"`
	Rejects    *string        `json:"rejects_file"`
	Unlisted   int64          `json:"rejects_not_listed"`
}

// errUnsorted ends a pass over a log whose jobs are not in order.
var errUnsorted = errors.New("the jobs are not in order of submit")

// importing is the state of one import.
type importing struct {
	*Request
	ctx          context.Context //nolint:containedctx // of one call of Import
	sort, marked bool            // sort the jobs first; mark the file as partial

	pass     *Pass
	rejected int64        // rejected rows of the pass
	failed   error        // first error of Pass.Reject
	seen     census       // of the written jobs
	rep      trace.Report // of the last pass
	others   tallyOfModels
	dropped  int64 // by Request.Each
	only     *Only // Request.Only with its times; nil is all
}

// Import reads the log and writes its jobs. It fails with the errors of trace.Open, of the
// reader and of the pass, and with a *capcli.AccountingError where the counts of rows do not
// add up.
func Import(ctx context.Context, r *Request) (*Result, error) {
	if err := trace.CheckCount(r.Options.Format, 1+len(r.More)); err != nil {
		return nil, err
	}
	im := &importing{Request: r, ctx: ctx}
	if r.Only != nil {
		var err error
		if im.only, err = r.Only.settle(r.Options.TZ); err != nil {
			return nil, err
		}
	}
	if err := im.survey(); err != nil {
		return nil, err
	}
	for again := true; again; {
		var err error
		if again, err = im.read(); err != nil {
			return nil, err
		}
	}
	rep := &im.rep
	left, err := im.others.settle(r, im.seen.jobs)
	if err != nil {
		return nil, err
	}
	rep.Kept -= im.others.left + im.dropped
	rep.Notes = append(rep.Notes, left...)
	if im.dropped > 0 {
		rep.Notes = append(rep.Notes, fmt.Sprintf("%s %s GPUs and did nothing with them, and %s left out", capcli.Grouped(im.dropped), verb(im.dropped, "job held", "jobs held"), verb(im.dropped, "is", "are")))
	}
	return &Result{
		Schema: "capcli/import/v1", Input: r.Input, Tally: rep.Tally, LeftOut: im.others.left - im.others.gone, Gone: im.others.gone, Unneeded: im.dropped, First: im.seen.first, Last: im.seen.end,
		Partitions: countNamed(im.seen.partitions), Tenants: countNamed(im.seen.tenants), GPUHours: im.seen.work,
		Tags:    capcli.TagNames(slices.Collect(maps.Keys(im.seen.tags))),
		Machine: rep.MachineGPUs, Resorted: rep.Unsorted, Partial: rep.Cut, Notes: rep.Notes,
	}, nil
}

// survey gives Request.Survey the jobs of the log.
func (im *importing) survey() error {
	if im.Survey == nil {
		return nil
	}
	in, closer, err := im.Open(im.Input)
	if err != nil {
		return err
	}
	defer closer.Close() //nolint:errcheck // it was only read
	if in.At == nil {
		return &capcli.InputError{File: im.Input, Text: "is read twice to tell jobs apart by kind, and stdin cannot be", Hint: "import it first, and give the jobs file"}
	}
	r, err := trace.Open(in, im.Options)
	if err != nil {
		return err
	}
	var others tallyOfModels
	for j, err := range others.take(im.only, capcli.WatchJobs(im.ctx, r.Jobs(), func(int64) {})) {
		if err != nil {
			return err
		}
		im.Survey(&j)
	}
	return nil
}

// change yields jobs as Request.Each changes them.
func (im *importing) change(jobs capcli.Jobs) capcli.Jobs {
	if im.Each == nil {
		return jobs
	}
	return func(yield func(capcli.Job, error) bool) {
		for j, err := range jobs {
			if err == nil && !im.Each(&j) {
				im.dropped++
				continue
			}
			if !yield(j, err) {
				return
			}
		}
	}
}

// read makes one pass over the log. It reports whether another pass is needed.
func (im *importing) read() (again bool, err error) {
	in, closer, err := im.Open(im.Input)
	if err != nil {
		return false, err
	}
	defer closer.Close() //nolint:errcheck // it was only read
	once := in.At == nil // a stream cannot be read again, so it is held and sorted
	if im.pass, err = im.Begin(); err != nil {
		return false, err
	}
	im.seen, im.rejected, im.failed = census{tenants: map[string]bool{}, partitions: map[string]bool{}, tags: map[*capcli.Tags]bool{}, first: capcli.NoTime, end: capcli.NoTime}, 0, nil
	im.others, im.dropped = tallyOfModels{}, 0
	opts := im.Options
	opts.Rejects = im.reject
	for _, name := range im.More {
		more, closer, err := im.Open(name)
		if err != nil {
			return false, err
		}
		defer closer.Close() //nolint:errcheck // it was only read
		opts.More, once = append(opts.More, more), once || more.At == nil
	}
	r, err := trace.Open(in, opts)
	if err != nil {
		return false, err
	}
	jobs := im.change(im.others.take(im.only, capcli.WatchJobs(im.ctx, r.Jobs(), im.pass.Done)))
	if im.sort || once {
		jobs = trace.Sorted(im.markExtra(jobs, r))
	}
	if once {
		var stop func()
		jobs, stop = startJobs(jobs)
		defer stop()
	}
	meta := map[string]string{"source": filepath.Base(in.Name)}
	if im.marked {
		meta["partial"] = "the source is cut short"
	}
	err = im.File.Write(im.pass.Jobs, im.watch(jobs), meta)
	im.pass.End(im.seen.jobs)
	if !once && im.widen(err, r) {
		return true, nil
	}
	if errors.Is(err, errUnsorted) {
		im.sort = true
		return true, nil
	}
	if err != nil {
		return false, err
	}
	im.rep = r.Report()
	if im.rep.Cut && !once && !im.marked && im.File.Meta {
		im.marked = true
		return true, nil
	}
	return false, im.balance()
}

// widen gives the file the column that err says it lacks, for jobs of r. It reports whether there is one.
func (im *importing) widen(err error, r *trace.Reader) bool {
	switch {
	case errors.Is(err, trace.ErrEligible):
		im.File.Extra.Eligible = true
	case errors.Is(err, trace.ErrGPUMem):
		im.File.Extra.GPUMem = true
	case errors.Is(err, trace.ErrStages):
		im.File.Extra.Stages = true
	case errors.Is(err, trace.ErrTags):
		im.File.Extra.Tags = r.TagNames()
	default:
		return false
	}
	return true
}

// markExtra yields jobs of r, and gives the file the columns that they need.
func (im *importing) markExtra(jobs capcli.Jobs, r *trace.Reader) capcli.Jobs {
	return func(yield func(capcli.Job, error) bool) {
		for job, err := range jobs {
			if err == nil && job.Eligible > job.Submit {
				im.File.Extra.Eligible = true
			}
			if err == nil && job.GPUMemMiB > 0 {
				im.File.Extra.GPUMem = true
			}
			if err == nil && job.Stage != nil {
				im.File.Extra.Stages = true
			}
			if err == nil && job.Tags != nil && len(im.File.Extra.Tags) != len(r.TagNames()) {
				im.File.Extra.Tags = r.TagNames()
			}
			if !yield(job, err) {
				return
			}
		}
	}
}

// startJobs reads jobs up to the first, which for sorted jobs is all of the input. The caller calls
// stop after it has used the result.
func startJobs(jobs capcli.Jobs) (started capcli.Jobs, stop func()) {
	next, stop := iter.Pull2(jobs)
	job, err, ok := next()
	return func(yield func(capcli.Job, error) bool) {
		for ok && yield(job, err) {
			job, err, ok = next()
		}
	}, stop
}

// reject counts a rejected row and passes it on. After an error it only counts.
func (im *importing) reject(row trace.Reject) {
	im.rejected++
	if im.failed == nil {
		im.failed = im.pass.Reject(row)
	}
}

// watch yields jobs and counts them. It ends with errUnsorted where they are not in order, and
// with the error of Pass.Reject where a rejected row could not be written.
func (im *importing) watch(jobs capcli.Jobs) capcli.Jobs {
	return func(yield func(capcli.Job, error) bool) {
		last := capcli.NoTime
		for job, err := range jobs {
			switch {
			case err != nil:
			case job.Submit < last:
				err = errUnsorted
			default:
				err = im.failed
			}
			if err != nil {
				yield(capcli.Job{}, err)
				return
			}
			last = job.Submit
			im.seen.add(&job)
			if !yield(job, nil) {
				return
			}
		}
		if im.failed != nil {
			yield(capcli.Job{}, im.failed)
		}
	}
}

// balance returns a *capcli.AccountingError unless every row of the log is counted exactly
// once and every kept job was written.
func (im *importing) balance() error {
	rep, text := &im.rep, ""
	switch {
	case rep.Kept != im.seen.jobs+im.others.left+im.dropped:
		text = fmt.Sprintf("%d jobs were kept and %d written", rep.Kept-im.others.left-im.dropped, im.seen.jobs)
	case rep.Rows != rep.Kept+rep.Folded+rep.Rejected:
		text = fmt.Sprintf("%d rows are not %d kept + %d folded + %d rejected", rep.Rows, rep.Kept, rep.Folded, rep.Rejected)
	case im.rejected != rep.Rejected:
		text = fmt.Sprintf("%d rows were rejected and %d told", rep.Rejected, im.rejected)
	default:
		return nil
	}
	return &capcli.AccountingError{Err: errors.New(text)}
}

// census counts the written jobs, their work, tenants and partitions.
type census struct {
	jobs                int64
	work                capcli.GPUTime
	first, end          capcli.Time // earliest and latest submission; NoTime is none
	tenants, partitions map[string]bool
	tags                map[*capcli.Tags]bool
	tenant, partition   string // of the last job: a repeated name needs no look-up
	last                *capcli.Tags
}

func (c *census) add(job *capcli.Job) {
	if c.jobs++; c.jobs == 1 {
		c.first = job.Submit
	}
	c.first, c.end = min(c.first, job.Submit), max(c.end, job.Submit)
	c.work += job.Work()
	if c.jobs == 1 || job.Tenant != c.tenant {
		c.tenant = job.Tenant
		c.tenants[job.Tenant] = true
	}
	if c.jobs == 1 || job.Partition != c.partition {
		c.partition = job.Partition
		c.partitions[job.Partition] = true
	}
	if job.Tags != c.last {
		c.last = job.Tags
		c.tags[job.Tags] = true
	}
}

// countNamed returns the number of names in set, without the empty name.
func countNamed(set map[string]bool) int64 {
	n := int64(len(set))
	if set[""] {
		n--
	}
	return n
}
