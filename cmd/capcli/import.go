package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/profile/trace"
)

// importOptions are what the flags of import say.
type importOptions struct {
	trace   traceOptions
	output  outputOptions
	out     string
	rejects string
}

func newImport(e *env) *cobra.Command {
	var o importOptions
	cmd := &cobra.Command{
		Use:   "import [FORMAT] FILE --out JOBS",
		Short: "Read a job log and write it as a jobs file",
		Long: "import reads a job log, says what was kept, folded and rejected and why, and writes the jobs in\n" +
			"order of submit. The ending of JOBS says as what: " + jobKinds + ".\n" +
			"FORMAT is auto (told from the file), slurm, or one of\n" + wrapNames(trace.Formats.Names(), 96) + ". FILE may be - for stdin.",
		Example: "  capcli import slurm sacct.psv.gz --tz Europe/Berlin --out jobs.parquet\n" +
			"  capcli import swf KTH-SP2.swf.gz --out jobs.csv.gz\n" +
			"  capcli import csv usage.csv --map submit=created_at,gpus=num_gpus --tz UTC --out jobs.parquet",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return nil
			}
			return wantArgs("FORMAT", "FILE")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return runImport(cmd.Context(), e, o, args) },
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return append([]string{"auto\ttold from the file", "slurm\tsacct"}, entries(&trace.Formats)...), cobra.ShellCompDirectiveDefault
		},
	}
	cmd.Flags().StringVar(&o.out, "out", "", "the jobs file to write, or - for CSV on stdout: `JOBS` (required)")
	cmd.Flags().StringVar(&o.rejects, "rejects", "", "where rejected rows go: `FILE` (default: JOBS with the ending .rejects.csv)")
	addTraceFlags(cmd, &o.trace)
	addFormFlag(cmd, &o.output)
	return cmd
}

func runImport(ctx context.Context, e *env, o importOptions, args []string) error {
	if len(args) == 1 {
		args = []string{"auto", args[0]}
	}
	o.trace.format = args[0]
	job, err := newImporting(e, o, args[1])
	if err != nil {
		return err
	}
	defer job.abort()
	if err := job.read(ctx); err != nil {
		return err
	}
	if err := job.publish(); err != nil {
		return err
	}
	if err := job.say(); err != nil {
		return err
	}
	if job.rep.Cut {
		return &partialError{
			text: fmt.Sprintf("%s is cut short; %s holds only what was there", args[1], job.jobs.path),
			hint: "waits and demand after " + job.rep.Last.String() + " are too low",
		}
	}
	return nil
}

// importing is one import under way.
type importing struct {
	e            *env
	o            importOptions
	name         string
	opts         trace.Options
	kind, packed string
	sort, marked bool // jobs are sorted first; the file is marked as partial

	jobs    *output
	rejects *rejects
	rep     trace.Report
	seen    census
}

func newImporting(e *env, o importOptions, name string) (*importing, error) {
	opts, err := o.trace.options()
	if err != nil {
		return nil, err
	}
	if o.out == "" {
		return nil, &usageError{text: "import wants --out JOBS: the file to write", hint: "for example --out jobs.parquet"}
	}
	if err := o.output.check(); err != nil {
		return nil, err
	}
	im := &importing{e: e, o: o, name: name, opts: opts}
	stem := ""
	if stem, im.kind, im.packed, err = splitJobs(o.out); err != nil {
		return nil, err
	}
	if im.o.rejects == "" && stem != "" {
		im.o.rejects = stem + ".rejects.csv"
	}
	return im, nil
}

// errUnsorted ends a pass over a log whose jobs turn out not to be in order.
var errUnsorted = errors.New("the jobs are not in order of submit")

// read reads the log and writes the jobs, as a stream where they are in order. A
// file whose order breaks, or that is cut short, is read again: sorted, marked.
func (im *importing) read(ctx context.Context) error {
	for {
		again, err := im.pass(ctx)
		if err != nil || !again {
			return err
		}
		im.abort()
	}
}

// pass is one reading of the log. It tells whether another is needed.
func (im *importing) pass(ctx context.Context) (again bool, err error) {
	in, closer, err := openInput(im.e, im.name)
	if err != nil {
		return false, err
	}
	defer closer.Close() //nolint:errcheck // it was only read
	once := in.At == nil // a stream cannot be read again, so it is held and sorted
	if err := im.begin(); err != nil {
		return false, err
	}
	r, err := trace.Open(in, im.opts)
	if err != nil {
		return false, err
	}
	p := newProgress(im.e, "jobs")
	jobs := checked(ctx, r.Jobs(), p)
	if im.sort || once {
		jobs = trace.Sorted(jobs)
	}
	err = writeJobs(im.jobs, im.kind, im.packed, im.watch(jobs), im.meta())
	p.end(im.seen.jobs)
	if errors.Is(err, errUnsorted) {
		im.sort = true
		return true, nil
	}
	if err != nil {
		return false, im.jobs.failed(err)
	}
	im.rep = r.Report()
	if im.rep.Cut && !once && !im.marked && im.kind == "parquet" {
		im.marked = true
		return true, nil
	}
	return false, im.balance()
}

// begin opens the two files that an import writes.
func (im *importing) begin() error {
	var err error
	im.seen = census{tenants: map[string]bool{}, partitions: map[string]bool{}}
	if im.jobs, err = im.e.create(im.o.out); err != nil {
		return err
	}
	im.rejects = &rejects{e: im.e, path: im.o.rejects}
	im.opts.Rejects = im.rejects.add
	return nil
}

// meta is what the jobs file says about where it comes from.
func (im *importing) meta() map[string]string {
	source := filepath.Base(im.name)
	if im.name == "-" {
		source = "stdin"
	}
	m := map[string]string{"source": source}
	if im.marked {
		m["partial"] = "the source is cut short"
	}
	return m
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
				err = im.rejects.err
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
		if im.rejects.err != nil {
			yield(capcli.Job{}, im.rejects.err)
		}
	}
}

// balance checks that each row of the log is accounted for.
func (im *importing) balance() error {
	rep := &im.rep
	switch {
	case rep.Kept != im.seen.jobs:
		return &capcli.AccountingError{Err: fmt.Errorf("%d jobs were kept and %d written", rep.Kept, im.seen.jobs)}
	case rep.Rows != rep.Kept+rep.Folded+rep.Rejected:
		return &capcli.AccountingError{Err: fmt.Errorf("%d rows are not %d kept + %d folded + %d rejected", rep.Rows, rep.Kept, rep.Folded, rep.Rejected)}
	case im.rejects.n != rep.Rejected:
		return &capcli.AccountingError{Err: fmt.Errorf("%d rows were rejected and %d told", rep.Rejected, im.rejects.n)}
	}
	return nil
}

// publish gives both files their names, once both are safe on the disk.
func (im *importing) publish() error {
	if err := im.rejects.settle(); err != nil {
		return err
	}
	if err := im.jobs.settle(); err != nil {
		return err
	}
	if im.rejects.out != nil {
		if err := im.rejects.out.publish(); err != nil {
			return err
		}
	}
	return im.jobs.publish()
}

func (im *importing) abort() {
	if im.jobs != nil {
		im.jobs.Abort()
	}
	if im.rejects != nil && im.rejects.out != nil {
		im.rejects.out.Abort()
	}
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

// named counts the names in set, without the empty one.
func named(set map[string]bool) int64 {
	n := int64(len(set))
	if set[""] {
		n--
	}
	return n
}
