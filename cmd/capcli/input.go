package main

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/files"
	"capcli/profile/trace"
	"capcli/scenarios/inputs"

	"capcli/cmd/bundle"
)

// openInput opens the file name, or stdin for "-". The input has random access (At) if it is a
// regular file. The caller closes it after the last job.
func openInput(e *env, name string) (trace.Input, io.Closer, error) {
	if name == "-" {
		return trace.Input{Name: "stdin", R: e.stdin}, io.NopCloser(nil), nil
	}
	f, err := e.disk.Open(name)
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

// create starts writing the file path: see files.Target.
func (e *env) create(path string) (*files.Output, error) {
	return e.target().Create(path)
}

// target returns the destination for output files.
func (e *env) target() *files.Target {
	return &files.Target{Disk: e.disk, Temps: e.temps, Stdout: e.stdout, Terminal: e.screen.stdout}
}

// open opens a file; it is a trace.Opener.
func (e *env) open(name string) (trace.Input, io.Closer, error) { return openInput(e, name) }

// addReadFlag adds --read, the options for reading a job log, to cmd. It has a key for --format if
// cmd has that flag; more are keys for other flags of cmd.
func addReadFlag(cmd *cobra.Command, o *trace.Request, more ...bundle.Key) {
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
	explainedBy(cmd, "capcli trace describe", "read")
}

// joinedKey adds the flag behind --read joined=WORD to cmd.
func joinedKey(cmd *cobra.Command, word *string) bundle.Key {
	cmd.Flags().StringVar(word, "joined", "", "whether inputs without a job in common are of different machines (apart) or not (same): `WORD`")
	complete(cmd, "joined", func() []string { return []string{inputs.Apart, inputs.Same} })
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
	complete(cmd, "tz", func() []string { return zones })
	complete(cmd, "dst", func() []string { return []string{"earlier", "later"} })
}

// addFormatFlag adds --format to cmd, for commands that do not take the format as an argument.
func addFormatFlag(cmd *cobra.Command, o *trace.Request) {
	cmd.Flags().StringVar(&o.Format, "format", "", "format of the job log, `NAME` (default: detected from the file): "+strings.Join(trace.Formats.Names(), ", "))
	complete(cmd, "format", func() []string { return append([]string{"auto\tdetected from the file"}, entries(&trace.Formats)...) })
}

// checked returns jobs as a stream that ends when ctx ends and reports its progress to p.
func checked(ctx context.Context, jobs capcli.Jobs, p *progress) capcli.Jobs {
	return capcli.WatchJobs(ctx, jobs, func(n int64) { p.report(n, 0) })
}
