package profile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"capcli/cmd/shell"
	"capcli/profile"
	"capcli/profile/store"
	"capcli/profile/upkeep"
)

// keepOptions are the flags of profile that say what becomes of past days.
type keepOptions struct {
	keep, upload string
}

// check refuses wrong flags.
func (o *keepOptions) check() error {
	_, err := store.ParseKeep(o.keep)
	r := upkeep.Request{Upload: o.upload}
	return errors.Join(err, r.Check())
}

// newKeeper returns the sink, still without its own, that keeps the folder in order; nil where nobody
// shall. A program of its own does the work, so that its memory and its time are not the recorder's.
func (r *recording) newKeeper(ctx context.Context) *upkeep.Keeper {
	o := &r.o.keep
	if r.e.Program == nil {
		return nil
	}
	ctx, r.stopUpkeep = context.WithCancel(ctx)
	return &upkeep.Keeper{
		Host: r.host, Prunes: o.keep != "", Room: roomOf(r.o.out), Note: r.e.Note,
		Run: func(today profile.Instant, full bool) (*upkeep.Result, error) { return r.runUpkeep(ctx, today, full) },
	}
}

// runUpkeep runs capcli profile compact for the days before today.
func (r *recording) runUpkeep(ctx context.Context, today profile.Instant, full bool) (*upkeep.Result, error) {
	path, err := r.e.Program()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, path, "profile", "compact", r.o.out, "--host", r.host, "--before", today.Std().Format(time.DateOnly),
		"--keep="+r.o.keep.keep, "--upload="+r.o.keep.upload, fmt.Sprintf("--make-room=%t", full), "--output=json", "--progress=none")
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GOGC=50")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	lowerPriority()
	out, err := cmd.Output()
	got := &upkeep.Result{}
	if json.Unmarshal(out, got) != nil {
		got = nil
	}
	failed, ok := errors.AsType[*exec.ExitError](err)
	switch {
	case ctx.Err() != nil:
		err = nil // the recording ends
	case ok && failed.ExitCode() == shell.ExitPartial && got != nil:
		err = nil // the result says what is amiss
	case ok:
		lines := strings.Split(string(failed.Stderr), "\n")
		if i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "error: ") }); i >= 0 {
			err = errors.New(strings.TrimPrefix(lines[i], "error: "))
		}
	}
	return got, err
}
