package data

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/files"
	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/profile/logs/jobfile"
	"capcli/profile/logs/trace"
	"capcli/scenarios/inputs"
	"capcli/scenarios/kinds"
	"capcli/scenarios/kubernetes/joblog"
	"capcli/scenarios/money/prices"
	"capcli/scenarios/slurm"
)

// importOptions are the flags of capcli import.
type importOptions struct {
	trace   trace.Request
	output  shell.OutputOptions
	out     string
	rejects string
	only    jobfile.Only
	joined  string
	kinds   string
	tables  [3]string // files for importTables
}

// importTables are the tables that some formats have beside the jobs: the flag --NAME-out writes them.
var importTables = [3]struct{ name, usage, hint string }{
	{joblog.HistoryTable, "kubernetes: one row per job, with everything the cluster records of it", "kubernetes has it"},
	{joblog.RunsTable, "kubernetes: one row per run, with the reason why it stopped", "kubernetes has it"},
	{trace.NodesTable, "squeue, kubernetes: the nodes that accept jobs, for nodes_file and --capacity", "give squeue a file of sinfo too, or kubernetes one of kubectl get nodes"},
}

func newImport(e *shell.Env) *cobra.Command {
	var o importOptions
	cmd := &cobra.Command{
		Use:   "import [FORMAT] FILE… --out JOBS",
		Short: "Read a job log and write it as a jobs file",
		Long: "import reads a job log, says what was kept, folded and rejected and why, and writes the jobs in\n" +
			"order of submission. The ending of JOBS chooses the form:\n" + jobfile.Endings + ".\n" +
			"FORMAT is auto (detected from the file), slurm, or one of\n" + wrapNames(trace.Formats.Names(), 96) + ". FILE may be - for stdin.\n" +
			"slurm-site, slurm-scenario, slurm-priorities and slurm-play take a folder of Slurm's own files (docs/from-slurm.md).\n" +
			"kubernetes and squeue take several FILEs of one cluster, and write more tables with\n" +
			"--history-out, --runs-out, --nodes-out. Other FILEs are joined: logs, folders of capcli profile, tables of GPUs,\n" +
			"services with their requests (docs/decide.md).",
		Example: "  capcli import slurm sacct.psv.gz --read tz=Europe/Berlin --out jobs.parquet\n" +
			"  capcli import swf KTH-SP2.swf.gz --out jobs.csv.gz\n" +
			"  capcli import csv usage.csv --read submit=created_at,gpus=num_gpus,tz=UTC --out jobs.parquet\n" +
			"  capcli import kubernetes cluster.json events.json --out jobs.csv --history-out history.csv --runs-out runs.csv\n" +
			"  capcli import squeue squeue.json sinfo.json --out now.csv --nodes-out nodes.csv",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 || len(args) > 2 {
				return nil
			}
			return shell.WantArgs("FORMAT", "FILE")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return runImport(cmd.Context(), e, o, args) },
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return append([]string{"auto\tdetected from the file", "slurm\tsacct", "sinfo\tthe nodes of squeue"}, shell.Entries(&trace.Formats)...), cobra.ShellCompDirectiveDefault
		},
	}
	cmd.Flags().StringVar(&o.out, "out", "", "jobs file to write, or - for CSV on stdout: `JOBS`")
	cmd.Flags().StringVar(&o.rejects, "rejects", "", "file for rejected rows: `FILE` (default: JOBS with the ending .rejects.csv)")
	cmd.Flags().StringVar(&o.only.GPU, "gpu", "", "only jobs that want this `MODEL`, or name none")
	cmd.Flags().StringArrayVar(&o.only.Without, "without", nil, "no jobs of this `TENANT` (repeat)")
	cmd.Flags().StringVar(&o.only.From, "from", "", "only what jobs would have run from `WHEN` on, a date or a time")
	cmd.Flags().StringVar(&o.only.To, "to", "", "only jobs submitted up to `WHEN`")
	cmd.Flags().StringVar(&o.kinds, "kinds", "", "give jobs the class and partition of their kind of work, by this `FILE` or by the `rules` alone")
	shell.Complete(cmd, "gpu", func() []string { return prices.Catalogue().Models() })
	for i, t := range importTables {
		cmd.Flags().StringVar(&o.tables[i], t.name+"-out", "", t.usage+", as CSV in this `FILE`")
	}
	shell.AddReadFlag(cmd, &o.trace, shell.JoinedKey(cmd, &o.joined))
	shell.AddFormFlag(cmd, &o.output)
	return cmd
}

func runImport(ctx context.Context, e *shell.Env, o importOptions, args []string) error {
	if len(args) == 1 {
		args = []string{"auto", args[0]}
	}
	if what, ok := strings.CutPrefix(args[0], "slurm-"); ok {
		b, err := slurm.Answer(what, e.ShardFolder(args[1]))
		if err != nil {
			return err
		}
		return shell.WriteWhole(e, cmp.Or(o.out, "-"), b)
	}
	o.trace.Format = args[0]
	r, err := o.request(e, args[1:])
	if err != nil {
		return err
	}
	im := &importing{e: e, o: o, tables: map[string]trace.Table{}}
	defer im.abort()
	if im.o.rejects == "" && r.File.Stem != "" {
		im.o.rejects = r.File.Stem + ".rejects.csv"
	}
	r.Options.TablesOnly = o.out == ""
	r.Begin, r.Options.Tables = im.begin, func(t trace.Table) { im.tables[t.Name] = t }
	set, err := inputs.Read(ctx, &inputs.Request{Names: args[1:], Read: o.trace, Joined: o.joined, GPU: o.only.GPU, Sources: e.Sources()})
	if err != nil {
		return err
	}
	res, err := set.Import(ctx, r)
	if err != nil {
		return im.failed(err)
	}
	if err := im.writeTables(res.Format); err != nil {
		return err
	}
	if err := im.publish(); err != nil {
		return err
	}
	if err := im.say(res); err != nil {
		return err
	}
	if res.Partial {
		return &capcli.ResultError{
			Kind: capcli.Incomplete, Text: fmt.Sprintf("%s is truncated; %s holds only what could be read", args[1], o.firstOut()),
			Hint: "waits and demand after " + res.Last.String() + " are too low",
		}
	}
	return nil
}

func (o *importOptions) request(e *shell.Env, names []string) (*jobfile.Request, error) {
	opts, err := o.trace.Parse()
	if err != nil {
		return nil, err
	}
	if o.firstOut() == "" {
		return nil, &shell.UsageError{Text: "import needs --out JOBS: the file to write", Hint: "for example --out jobs.parquet"}
	}
	file, err := jobfile.FileOf(cmp.Or(o.out, "-"))
	if err != nil {
		return nil, err
	}
	o.only.Same = prices.SameModel
	r := &jobfile.Request{Input: names[0], More: names[1:], Open: e.Open, Options: opts, File: file, Only: &o.only}
	if o.kinds != "" {
		rules, err := kinds.Read(e.Open, o.kinds)
		if err != nil {
			return nil, err
		}
		s := kinds.NewSurvey(rules)
		r.Survey, r.Each = s.Add, s.Rewrite
	}
	return r, nil
}

// usesStdout reports whether stdout takes the jobs or a table.
func (o *importOptions) usesStdout() bool { return o.out == "-" || slices.Contains(o.tables[:], "-") }

// firstOut returns the first file to write.
func (o *importOptions) firstOut() string { return cmp.Or(o.out, cmp.Or(o.tables[:]...)) }

// importing is an import in progress, with the files that it writes.
type importing struct {
	e       *shell.Env
	o       importOptions
	jobs    *files.Output // nil where no jobs file is asked for
	tables  map[string]trace.Table
	rejects *files.Rejects
}

// begin opens both files and discards those of an earlier pass.
func (im *importing) begin() (_ *jobfile.Pass, err error) {
	im.abort()
	jobs := io.Discard
	if im.o.out != "" {
		if im.jobs, err = im.e.Create(im.o.out); err != nil {
			return nil, err
		}
		jobs = im.jobs
	}
	im.rejects = &files.Rejects{To: im.e.Target(), Path: im.o.rejects}
	p := shell.NewProgress(im.e, "jobs")
	return &jobfile.Pass{Jobs: jobs, Reject: im.rejects.Add, Done: func(n int64) { p.Report(n, 0) }, End: p.End}, nil
}

// failed returns err, or the write error that caused it.
func (im *importing) failed(err error) error {
	if im.jobs == nil {
		return err
	}
	return im.jobs.Failed(err)
}

// publish gives both files their final names, once both are safely on the disk.
func (im *importing) publish() error {
	if err := im.rejects.Settle(); err != nil {
		return err
	}
	if im.jobs != nil {
		if err := im.jobs.Settle(); err != nil {
			return err
		}
	}
	if im.rejects.Out != nil {
		if err := im.rejects.Out.Publish(); err != nil {
			return err
		}
	}
	if im.jobs == nil {
		return nil
	}
	return im.jobs.Publish()
}

// writeTables writes the tables that the flags ask for.
func (im *importing) writeTables(format string) error {
	for i, t := range importTables {
		if im.o.tables[i] == "" {
			continue
		}
		table, ok := im.tables[t.name]
		if !ok {
			return &shell.UsageError{Text: fmt.Sprintf("--%s-out: format %s has no table %s", t.name, format, t.name), Hint: t.hint}
		}
		if err := shell.WriteWhole(im.e, im.o.tables[i], table.CSV()); err != nil {
			return err
		}
	}
	return nil
}

func (im *importing) abort() {
	if im.jobs != nil {
		im.jobs.Abort()
	}
	if im.rejects != nil && im.rejects.Out != nil {
		im.rejects.Out.Abort()
	}
}

// say reports the import, as a transcript or in the form of -o. If the jobs themselves go to
// stdout, the report goes to stderr.
func (im *importing) say(res *jobfile.Result) error {
	if im.jobs != nil {
		res.Out, res.Bytes = im.o.out, im.jobs.Written
	}
	if res.Rejected > 0 && im.rejects.Out != nil {
		res.Rejects, res.Unlisted = &im.o.rejects, im.rejects.Left
	}
	e := im.e
	if im.o.usesStdout() {
		aside := *e
		aside.Stdout, aside.Screen.Stdout = e.Stderr, e.Screen.Stderr
		e = &aside
	}
	if im.o.output.Form != "" && im.o.output.Form != "table" {
		return shell.Emit(e, im.o.output, tables.ImportDoc(res))
	}
	if im.o.usesStdout() && e.Quiet {
		return nil
	}
	place := ""
	if im.rejects.Out != nil {
		place = im.o.rejects
	}
	_, err := io.WriteString(e.Stdout, shell.Printable(tables.Transcript(res, place, im.rejects.MissingText(), im.o.tables[:]))+"\n")
	return err
}

// wrapNames joins names with commas into lines of at most width characters.
func wrapNames(names []string, width int) string {
	var b strings.Builder
	column := 0
	for i, n := range names {
		if i > 0 {
			b.WriteByte(',')
			column++
			if column+len(n)+1 > width {
				b.WriteByte('\n')
				column = 0
			} else {
				b.WriteByte(' ')
				column++
			}
		}
		b.WriteString(n)
		column += len(n)
	}
	return b.String()
}
