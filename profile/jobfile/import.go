package jobfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"capcli"
	"capcli/profile/trace"
)

// Request asks to read a job log and to write its jobs, in order of submit.
type Request struct {
	Input   string       // the log, as Open knows it
	Open    trace.Opener // of the log, once for each pass
	Options trace.Options
	File    File
	// Begin begins a pass. A log is read as a stream; where its jobs turn out not to
	// be in order, or it is cut short, it is read again, and what the pass before
	// wrote is dropped.
	Begin func() (*Pass, error)
}

// Pass is where one reading of a log goes.
type Pass struct {
	Jobs   io.Writer
	Reject func(trace.Reject) error // takes a row that was not taken
	Done   func(jobs int64)         // told now and then how many jobs were written
	End    func(jobs int64)         // told when all are
}

// Result is what was imported. The caller sets where it was written.
type Result struct {
	Schema string `json:"schema"`
	Input  string `json:"input"`
	trace.Tally
	First      capcli.Time    `json:"first_submit"`
	Last       capcli.Time    `json:"last_submit"`
	Partitions int64          `json:"partitions"`
	Tenants    int64          `json:"tenants"`
	GPUHours   capcli.GPUTime `json:"gpu_hours"`
	Machine    *int64         `json:"machine_gpus"`
	Resorted   bool           `json:"resorted"` // the jobs were put in order
	Partial    bool           `json:"partial"`  // the log is cut short
	Notes      []string       `json:"notes"`
	Out        string         `json:"out"`
	Bytes      int64          `json:"out_bytes"`
	Rejects    *string        `json:"rejects_file"`
	Unlisted   int64          `json:"rejects_not_listed"`
}

// errUnsorted ends a pass over a log whose jobs turn out not to be in order.
var errUnsorted = errors.New("the jobs are not in order of submit")

// importing is an import under way.
type importing struct {
	*Request
	ctx          context.Context //nolint:containedctx // of one call of Import
	sort, marked bool            // jobs are sorted first; the file is marked as partial

	pass     *Pass
	rejected int64
	failed   error // the first rejection that could not be written
	seen     census
	rep      trace.Report
}

// Import reads the log and writes the jobs. It fails as trace.Open and its reader do,
// with the errors of the pass, and with a *capcli.AccountingError where rows are
// missing.
func Import(ctx context.Context, r *Request) (*Result, error) {
	im := &importing{Request: r, ctx: ctx}
	for again := true; again; {
		var err error
		if again, err = im.read(); err != nil {
			return nil, err
		}
	}
	rep := &im.rep
	return &Result{
		Schema: "capcli/import/v1", Input: r.Input, Tally: rep.Tally, First: rep.First, Last: rep.Last,
		Partitions: countNamed(im.seen.partitions), Tenants: countNamed(im.seen.tenants), GPUHours: im.seen.work,
		Machine: rep.MachineGPUs, Resorted: rep.Unsorted, Partial: rep.Cut, Notes: rep.Notes,
	}, nil
}

// read reads the log once. It tells whether it must be read again.
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
	im.seen, im.rejected, im.failed = census{tenants: map[string]bool{}, partitions: map[string]bool{}}, 0, nil
	opts := im.Options
	opts.Rejects = im.reject
	r, err := trace.Open(in, opts)
	if err != nil {
		return false, err
	}
	jobs := capcli.WatchJobs(im.ctx, r.Jobs(), im.pass.Done)
	if im.sort || once {
		jobs = trace.Sorted(jobs)
	}
	meta := map[string]string{"source": filepath.Base(in.Name)}
	if im.marked {
		meta["partial"] = "the source is cut short"
	}
	err = im.File.Write(im.pass.Jobs, im.watch(jobs), meta)
	im.pass.End(im.seen.jobs)
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

func (im *importing) reject(row trace.Reject) {
	im.rejected++
	if im.failed == nil {
		im.failed = im.pass.Reject(row)
	}
}

// watch passes jobs on, counts them, and ends where they are not in order or
// where their rejects could not be written.
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

// balance checks that each row of the log is accounted for.
func (im *importing) balance() error {
	rep, text := &im.rep, ""
	switch {
	case rep.Kept != im.seen.jobs:
		text = fmt.Sprintf("%d jobs were kept and %d written", rep.Kept, im.seen.jobs)
	case rep.Rows != rep.Kept+rep.Folded+rep.Rejected:
		text = fmt.Sprintf("%d rows are not %d kept + %d folded + %d rejected", rep.Rows, rep.Kept, rep.Folded, rep.Rejected)
	case im.rejected != rep.Rejected:
		text = fmt.Sprintf("%d rows were rejected and %d told", rep.Rejected, im.rejected)
	default:
		return nil
	}
	return &capcli.AccountingError{Err: errors.New(text)}
}

// census counts what the kept jobs are.
type census struct {
	jobs                int64
	work                capcli.GPUTime
	tenants, partitions map[string]bool
	tenant, partition   string // the last ones, which most often come again
}

func (c *census) add(job *capcli.Job) {
	c.jobs++
	c.work += job.Work()
	if c.jobs == 1 || job.Tenant != c.tenant {
		c.tenant = job.Tenant
		c.tenants[job.Tenant] = true
	}
	if c.jobs == 1 || job.Partition != c.partition {
		c.partition = job.Partition
		c.partitions[job.Partition] = true
	}
}

// countNamed counts the names in set, without the empty one.
func countNamed(set map[string]bool) int64 {
	n := int64(len(set))
	if set[""] {
		n--
	}
	return n
}
