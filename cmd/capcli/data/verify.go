package data

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/files"
	"capcli/cmd/shell"
	"capcli/profile/bucket"
	"capcli/profile/logs/parquet"
	"capcli/profile/store"
)

func newVerify(e *shell.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "verify PATH…",
		Short: "Check that files which capcli wrote are unchanged",
		Long: "verify reads Parquet files that capcli wrote, or whole folders of capcli profile or simulate --out, and checks\n" +
			"them against their checksums, their order and each other. Exit 3 means damage, or nothing to verify; the\n" +
			"output names it.",
		Example: "  capcli verify gpu-profile\n" +
			"  capcli verify runs\n" +
			"  capcli verify jobs.parquet",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &shell.UsageError{Text: "verify needs PATH: a file or a folder is missing", Hint: "capcli verify --help"}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return runVerify(cmd.Context(), e, args) },
	}
}

func runVerify(ctx context.Context, e *shell.Env, paths []string) error {
	var bad []string
	for _, path := range paths {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		folder := bucket.IsName(path)
		if !folder {
			info, err := e.Disk.Stat(path)
			if err != nil {
				return files.OpenError(path, err)
			}
			folder = info.IsDir()
		}
		sound, faults, err := "sound", []error(nil), error(nil)
		if folder {
			sound, faults, err = verifyFolder(e, path)
		} else if fault := verifyFile(e, path); fault != nil {
			faults = []error{fault}
		}
		if err != nil {
			return err
		}
		for _, f := range faults {
			bad = append(bad, f.Error())
		}
		if len(faults) > 0 {
			continue
		}
		if _, err := fmt.Fprintf(e.Stdout, "%s: %s\n", shell.Printable(path), sound); err != nil {
			return err
		}
	}
	if len(bad) > 0 {
		return &capcli.InputError{Text: fmt.Sprintf("%d %s:\n%s", len(bad), capcli.Plural(int64(len(bad)), "problem"), strings.Join(capcli.Abridge(bad, 20), "\n"))}
	}
	return nil
}

// verifyRuns checks a folder of runs, or one of several; ok is false where path is neither.
func verifyRuns(e *shell.Env, path string) (sound string, faults []error, ok bool, err error) {
	names, err := e.ShardFolder(path).Names()
	if err != nil {
		return "", nil, false, err
	}
	v, err := e.Folder(path).Verify(names)
	if v == nil || err != nil {
		return "", nil, false, err
	}
	for _, n := range v.Notes {
		e.Note(n)
	}
	return fmt.Sprintf("sound: %d files of %d %s of runs", v.Files, v.Folders, capcli.Plural(int64(v.Folders), "folder")), v.Problems, true, nil
}

// verifyFolder checks a folder of capcli profile, or of runs. sound describes its content; faults are what is
// damaged.
func verifyFolder(e *shell.Env, path string) (sound string, faults []error, err error) {
	if !bucket.IsName(path) {
		if sound, faults, ok, err := verifyRuns(e, path); ok || err != nil {
			return sound, faults, err
		}
	}
	f, err := e.ProfileFolder(path)
	if err != nil {
		return "", nil, err
	}
	v, err := store.Verify(f.Disk, f.Root)
	if err != nil {
		return "", nil, shell.StoreError(err, path)
	}
	for _, n := range v.Notes {
		e.Note(path + ": " + n)
	}
	if v.Files+v.Segments+len(v.Problems) == 0 {
		return "", []error{&capcli.InputError{File: path, Text: "expected files that capcli profile or capcli simulate --out wrote, found none: nothing was verified"}}, nil
	}
	sound = fmt.Sprintf("sound: %d files, %s samples", v.Files, capcli.Grouped(v.Rows["samples"]))
	if v.Segments > 0 {
		sound += fmt.Sprintf(", and %d ticks that are not yet in files", v.Ticks)
	}
	return sound, v.Problems, nil
}

func verifyFile(e *shell.Env, path string) error {
	in, closer, err := shell.OpenInput(e, path)
	if err != nil {
		return err
	}
	defer closer.Close() //nolint:errcheck // it was only read
	if in.At == nil {
		return &capcli.InputError{File: path, Text: "expected a file, found a stream that cannot be read backwards"}
	}
	if err := parquet.Verify(in.At, in.Size); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
