package shell

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/bundle"
	"capcli/cmd/files"
	"capcli/cmd/schema"
	"capcli/profile/logs/trace"
	"capcli/scenarios"
	"capcli/scenarios/inputs"
	"capcli/scenarios/money/prices"
	"capcli/scenarios/play"
)

// OpenInput opens the file name, or stdin for "-". The input has random access (At) if it is a
// regular file. The caller closes it after the last job.
func OpenInput(e *Env, name string) (trace.Input, io.Closer, error) {
	if name == "-" {
		return trace.Input{Name: "stdin", R: e.Stdin}, io.NopCloser(nil), nil
	}
	f, err := e.Disk.Open(name)
	if err != nil {
		return trace.Input{}, nil, files.OpenError(name, err)
	}
	info, err := f.Stat()
	if err != nil {
		return trace.Input{}, nil, errors.Join(files.OpenError(name, err), f.Close())
	}
	if info.IsDir() {
		_ = f.Close()
		return trace.Input{}, nil, &capcli.InputError{
			File: name, Text: "expected a file, found a folder", Hint: "name a file in it: ls " + name,
		}
	}
	in := trace.Input{Name: name, R: f}
	if at, ok := f.(io.ReaderAt); ok && info.Mode().IsRegular() {
		in.At, in.Size = at, info.Size()
	}
	return in, f, nil
}

// Create starts writing the file path: see files.Target.
func (e *Env) Create(path string) (*files.Output, error) { return e.Target().Create(path) }

// Target returns the destination for output files.
func (e *Env) Target() *files.Target {
	return &files.Target{Disk: e.Disk, Temps: e.Temps, Stdout: e.Stdout, Terminal: e.Screen.Stdout}
}

// Open opens a file; it is a trace.Opener.
func (e *Env) Open(name string) (trace.Input, io.Closer, error) { return OpenInput(e, name) }

// AddReadFlag adds --read, the options for reading a job log, to cmd. It has a key for --format if
// cmd has that flag; more are keys for other flags of cmd.
func AddReadFlag(cmd *cobra.Command, o *trace.Request, more ...bundle.Key) {
	addTraceFlags(cmd, o)
	keys := append([]bundle.Key{{"tz", "tz"}, {"dst", "dst"}, {"times", "times"}, {"dates", "dates"}, {"columns", "columns-in"}, {"tag", "tag"}, {"allow-cut", "allow-cut"}}, more...)
	if cmd.Flags().Lookup("format") != nil {
		keys = append([]bundle.Key{{"format", "format"}}, keys...)
	}
	for _, c := range trace.Columns {
		keys = append(keys, bundle.Key{c, "map"})
	}
	bundle.Add(cmd, "read", "settings of the reader, `KEY=VALUE`,…: tz, dst, times, dates, format, columns, tag; submit=created_at (our column=theirs)", true, keys...)
	bundle.Rename(cmd, "map", "--read OURS=THEIRS")
	ExplainedBy(cmd, "capcli trace describe", "read")
}

// JoinedKey adds the flag behind --read joined=WORD to cmd.
func JoinedKey(cmd *cobra.Command, word *string) bundle.Key {
	cmd.Flags().StringVar(word, "joined", "", "whether inputs without a job in common are of different machines (apart) or not (same): `WORD`")
	Complete(cmd, "joined", func() []string { return []string{inputs.Apart, inputs.Same} })
	return bundle.Key{"joined", "joined"}
}

// addTraceFlags adds the flags that --read sets, except --format, to cmd.
func addTraceFlags(cmd *cobra.Command, o *trace.Request) {
	f := cmd.Flags()
	f.StringVar(&o.TZ, "tz", "", "`ZONE` of times that have none: Europe/Berlin, UTC")
	f.StringVar(&o.DST, "dst", "", "in the repeated hour when clocks go back: earlier (default) or later `PASS`")
	f.StringVar(&o.Times, "times", "", "`UNIT` of numeric times: s, ms, us or ns (default: detected from their size)")
	f.StringVar(&o.Dates, "dates", "", "`ORDER` of dates such as 03/04/2026: dmy or mdy (default: detected from the dates)")
	f.StringArrayVar(&o.Map, "map", nil, "column names of the file: `submit=created_at` (may be repeated)")
	f.StringArrayVar(&o.Tags, "tag", nil, "tags of the jobs, as columns of the input: `project,team`, or project:Account (default: columns called tag_NAME)")
	f.StringVar(&o.Columns, "columns-in", "", "columns of a sacct dump without a header: the `LIST` given to sacct --format")
	f.BoolVar(&o.AllowCut, "allow-cut", false, "accept a truncated file, with what can be read of it (exit 4)")
	Complete(cmd, "tz", func() []string { return Zones })
	Complete(cmd, "dst", func() []string { return []string{"earlier", "later"} })
}

// AddFormatFlag adds --format to cmd, for commands that do not take the format as an argument.
func AddFormatFlag(cmd *cobra.Command, o *trace.Request) {
	cmd.Flags().StringVar(&o.Format, "format", "", "format of the job log, `NAME` (default: detected from the file): "+strings.Join(trace.Formats.Names(), ", "))
	Complete(cmd, "format", func() []string { return append([]string{"auto\tdetected from the file"}, Entries(&trace.Formats)...) })
}

// Checked returns jobs as a stream that ends when ctx ends and reports its progress to p.
func Checked(ctx context.Context, jobs capcli.Jobs, p *Progress) capcli.Jobs {
	return capcli.WatchJobs(ctx, jobs, func(n int64) { p.Report(n, 0) })
}

// ParseDay parses the day given to flag and adds after days to it. An empty text is NoTime.
func ParseDay(flag, text string, after int) (capcli.Time, error) {
	if text == "" {
		return capcli.NoTime, nil
	}
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return capcli.NoTime, &UsageError{Text: flag + " wants a day such as 2027-01-31, found " + strconv.Quote(text)}
	}
	return capcli.TimeOf(t.AddDate(0, 0, after)), nil
}

// Folder returns the folder of runs at path.
func (e *Env) Folder(path string) *play.Folder {
	return &play.Folder{Path: path, Open: e.Opener(), Exists: func(path string) bool {
		_, err := e.Disk.Stat(path)
		return err == nil
	}}
}

// IsFolder reports whether path is a folder.
func (e *Env) IsFolder(path string) bool {
	info, err := e.Disk.Stat(path)
	return err == nil && info.IsDir()
}

// ShardFolder is the folder dir for the files of a sweep, on disk.
func (e *Env) ShardFolder(dir string) *files.Folder {
	return &files.Folder{
		Dir: dir, To: e.Target(), Hint: "what was finished is kept: run the shard again",
		Reader: func(path string, most int64) ([]byte, error) { return ReadFile(e, path, most) },
	}
}

// WatchOpened records every file opened from now on.
func (e *Env) WatchOpened() *files.Opened {
	o := &files.Opened{}
	o.Watch(&e.Disk)
	return o
}

// ResultPath returns the file of a saved result: name, or the result in the folder name.
func (e *Env) ResultPath(name string) string {
	if info, err := e.Disk.Stat(name); err == nil && info.IsDir() {
		return filepath.Join(name, ResultFile)
	}
	return name
}

// OrOne returns list, or a list of one empty name if list is empty.
func OrOne(list []string) []string {
	if len(list) == 0 {
		return []string{""}
	}
	return list
}

// ReadFile reads at most limit bytes of a file.
func ReadFile(e *Env, name string, limit int64) ([]byte, error) {
	return e.Opener().ReadFile(name, limit)
}

// ReadBeside reads a file named in a scenario of folder dir, and unpacks it.
func ReadBeside(e *Env, dir, name string) ([]byte, error) {
	return play.ReadBeside(e.Opener(), dir, name)
}

// Opener returns a function that opens inputs by name.
func (e *Env) Opener() trace.Opener {
	return func(name string) (trace.Input, io.Closer, error) { return OpenInput(e, name) }
}

// NewMaker returns the maker of the cases of one command.
func NewMaker(e *Env) *play.Maker {
	return &play.Maker{Logs: &play.Logs{Open: e.Opener()}, Note: e.Note, Counting: func() (now, end func(int64)) {
		p := NewProgress(e, "jobs")
		return func(n int64) { p.Report(n, 0) }, p.End
	}}
}

// CompleteScenarios offers the scenarios of the library, and files.
func CompleteScenarios(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return scenarios.Names(), cobra.ShellCompDirectiveDefault
}

// AddPricesFlag adds --prices, the flag for a price file, which is the same in all commands.
func AddPricesFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(file, "prices", "", "your own prices, `FILE` (csv, yaml); they override the catalogue")
}

// ReadPrices returns the catalogue. Prices in file, if it is named, take precedence.
func ReadPrices(e *Env, file string) (*prices.List, error) {
	own, err := OwnPrices(e, file)
	if err != nil {
		return nil, err
	}
	return own.Override(prices.Catalogue()), nil
}

// OwnPrices reads a price file; nil where file is "".
func OwnPrices(e *Env, file string) (*prices.List, error) {
	if file == "" {
		return nil, nil //nolint:nilnil // no price file is no error
	}
	b, err := ReadFile(e, file, prices.MaxBytes+1)
	if err != nil {
		return nil, err
	}
	return prices.Parse(file, b)
}

// EditorHead is the line of a scenario by which editors find its schema.
const EditorHead = "# yaml-language-server: $schema=" + editorSchema + "\n"

// WriteSchema writes s to the file path.
func WriteSchema(e *Env, path string, s *schema.Schema) error {
	return WriteOutput(e, path, func(out io.Writer) error { return capcli.WriteJSON(out, s) })
}

// editorSchema is the file beside a scenario of scenarios init by which editors check it.
const editorSchema = "capcli-scenario.schema.json"

// WriteForEditors writes the schema of scenarios beside the scenario in file, whose first line names it.
func WriteForEditors(e *Env, file string) error {
	s, err := schema.Print("scenario", false)
	if err != nil {
		return err
	}
	return WriteSchema(e, filepath.Join(filepath.Dir(file), editorSchema), s)
}
