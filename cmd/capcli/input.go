package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/files"
	"capcli/profile/trace"
)

// openInput opens the file called name, or stdin for "-". What it gives reads at
// any offset where the file does. Close it after the last job.
func openInput(e *env, name string) (trace.Input, io.Closer, error) {
	if name == "-" {
		return trace.Input{Name: "stdin", R: e.stdin}, io.NopCloser(nil), nil
	}
	f, err := e.disk.Open(name)
	if err != nil {
		return trace.Input{}, nil, cannotOpen(name, err)
	}
	info, err := f.Stat()
	if err != nil {
		return trace.Input{}, nil, errors.Join(cannotOpen(name, err), f.Close())
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

// create begins the file called path: see files.Target.
func (e *env) create(path string) (*files.Output, error) {
	return (&files.Target{Disk: e.disk, Temps: e.temps, Stdout: e.stdout, Terminal: e.screen.stdout}).Create(path)
}

// open is a trace.Opener.
func (e *env) open(name string) (trace.Input, io.Closer, error) { return openInput(e, name) }

func cannotOpen(name string, err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err // the name is said once
	}
	return fmt.Errorf("cannot open %s: %w", name, err)
}

// traceOptions say how to read a job log.
type traceOptions struct {
	format   string
	tz, dst  string
	maps     []string
	columns  string
	allowCut bool
}

// addReadFlag gives cmd --read, of a job log. --format is a key of it where cmd has that
// flag; more are keys for other flags of cmd.
func addReadFlag(cmd *cobra.Command, o *traceOptions, more ...key) {
	addTraceFlags(cmd, o)
	keys := append([]key{{"tz", "tz"}, {"dst", "dst"}, {"columns", "columns-in"}, {"allow-cut", "allow-cut"}}, more...)
	if cmd.Flags().Lookup("format") != nil {
		keys = append([]key{{"format", "format"}}, keys...)
	}
	for _, c := range trace.Columns {
		keys = append(keys, key{c, "map"})
	}
	addBundle(cmd, "read", "how the input is read, `KEY=VALUE`,…: tz, dst, format, columns; submit=created_at (our column=theirs)", true, keys...)
	renamed(cmd, "map", "--read OURS=THEIRS")
	explainedBy(cmd, "capcli trace describe", "read")
}

// addTraceFlags gives cmd the flags that --read sets, without --format.
func addTraceFlags(cmd *cobra.Command, o *traceOptions) {
	f := cmd.Flags()
	f.StringVar(&o.tz, "tz", "", "`ZONE` of times that have none: Europe/Berlin, UTC")
	f.StringVar(&o.dst, "dst", "", "in the hour that comes twice: earlier (default) or later `PASS`")
	f.StringArrayVar(&o.maps, "map", nil, "our column is called so in the file: `submit=created_at` (may be repeated)")
	f.StringVar(&o.columns, "columns-in", "", "columns of a sacct dump without a head: the `LIST` given to sacct --format")
	f.BoolVar(&o.allowCut, "allow-cut", false, "go on with what is there of a file that is cut short (exit 4)")
	complete(cmd, "tz", func() []string { return zones })
	complete(cmd, "dst", func() []string { return []string{"earlier", "later"} })
}

// addFormatFlag gives cmd --format, for commands where it is not an argument.
func addFormatFlag(cmd *cobra.Command, o *traceOptions) {
	cmd.Flags().StringVar(&o.format, "format", "", "`NAME` of the job log's format, else told from the file: "+strings.Join(trace.Formats.Names(), ", "))
	complete(cmd, "format", func() []string { return append([]string{"auto\ttold from the file"}, entries(&trace.Formats)...) })
}

// options checks o and gives what trace.Open takes.
func (o *traceOptions) options() (trace.Options, error) {
	out := trace.Options{Format: o.format, AllowCut: o.allowCut, DSTLater: o.dst == "later"}
	switch o.format {
	case "", "auto":
		out.Format = ""
	case "slurm":
		out.Format = "sacct"
	default:
		if _, err := trace.Formats.Get(o.format); err != nil {
			return out, err
		}
	}
	if o.dst != "" && o.dst != "earlier" && o.dst != "later" {
		return out, &usageError{text: fmt.Sprintf("--dst wants earlier or later, found %q", o.dst)}
	}
	var err error
	if out.TZ, err = zone(o.tz); err != nil {
		return out, err
	}
	if out.Map, err = parseMap(o.maps); err != nil {
		return out, err
	}
	for _, c := range strings.Split(o.columns, ",") {
		if c = strings.TrimSpace(c); c != "" {
			out.Columns = append(out.Columns, c)
		}
	}
	return out, nil
}

// zone finds a time zone. The zone of this machine has no name here, so that a
// result never depends on where it was made.
func zone(name string) (*time.Location, error) {
	if name == "" {
		return nil, nil //nolint:nilnil // no zone given is no error
	}
	loc, err := time.LoadLocation(name)
	if err != nil || strings.EqualFold(name, "local") {
		return nil, &usageError{
			text: fmt.Sprintf("--tz: unknown time zone %q", name),
			hint: "name it as Area/City: Europe/Berlin, America/New_York, or UTC",
		}
	}
	return loc, nil
}

// parseMap reads --map submit=created_at,gpus=n.
func parseMap(pairs []string) (map[string]string, error) {
	if len(pairs) == 0 {
		return nil, nil //nolint:nilnil // no map given is no error
	}
	names := capcli.Catalog[struct{}]{Kind: "column for --map"}
	for _, c := range trace.Columns {
		names.Add(c, "", struct{}{})
	}
	out := map[string]string{}
	for _, pair := range strings.Split(strings.Join(pairs, ","), ",") {
		ours, theirs, ok := strings.Cut(pair, "=")
		ours, theirs = strings.TrimSpace(ours), strings.TrimSpace(theirs)
		if !ok || ours == "" || theirs == "" {
			return nil, &usageError{text: fmt.Sprintf("--map wants ours=theirs, found %q", pair), hint: "for example --map submit=created_at"}
		}
		if _, err := names.Get(ours); err != nil {
			return nil, err
		}
		if _, twice := out[ours]; twice {
			return nil, &usageError{text: fmt.Sprintf("--map names %s twice", ours)}
		}
		out[ours] = theirs
	}
	return out, nil
}

// checked ends a stream of jobs when ctx ends, and tells p how far it is.
func checked(ctx context.Context, jobs capcli.Jobs, p *progress) capcli.Jobs {
	return capcli.WatchJobs(ctx, jobs, func(n int64) { p.report(n, 0) })
}
