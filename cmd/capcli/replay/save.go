package replay

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"capcli/cmd/files"
	"capcli/cmd/shell"
	"capcli/scenarios/outcome"
	"capcli/scenarios/play"
)

// save writes each plan's runs into a folder of --out: result.json, which capcli compare reads,
// inputs.json, from which capcli explain replays the runs, and the tables of services.
func (o *SimulateOptions) save(e *shell.Env, plans []*play.Case, folders map[*play.Case]string, results [][]*play.Run, part *outcome.Partial) error {
	if o.dir == "" {
		return nil
	}
	var wrote []string
	read, err := o.opened.Sums(&e.Disk)
	if err != nil {
		return err
	}
	var used []play.FileInput
	for _, f := range read {
		used = append(used, play.FileInput{File: f.Name, SHA256: f.SHA256})
	}
	for i, p := range plans {
		folder := filepath.Join(o.dir, folders[p])
		data := play.Document(results[i : i+1])
		data.Notes, data.Partial = p.Notes, part
		inputs := play.InputsOf(p, &o.Ask, len(results[i]), func(file string) string { return shell.SeenFrom(folder, file) }, used)
		inputs.Version = shell.VersionText()
		if err := e.Disk.Mkdir(folder); err != nil {
			return &files.WriteError{Path: folder, Err: err}
		}
		contents, err := inputs.Contents(data, results[i][0])
		if err != nil {
			return err
		}
		for _, c := range contents {
			if err := shell.WriteWhole(e, filepath.Join(folder, c.Name), c.Text); err != nil {
				return err
			}
		}
		wrote = append(wrote, folder)
	}
	replays := o.Ask.Trace != "-" && plans[0].Scenario.Kueue == nil // neither jobs from stdin nor Kueue's can be replayed
	e.Say("wrote " + strings.Join(wrote, ", ") + play.Next(wrote, results[0][0], replays))
	return nil
}

// finishedRuns returns the runs of each plan that were done when a signal came: those from the
// first on without a gap, so that the result can be replayed. Plans without any are left out.
// Without an error it returns the plans and a nil Partial. It fails where the error is no signal,
// or where nothing can be kept.
func (o *SimulateOptions) finishedRuns(ctx context.Context, plans []*play.Case, results [][]*play.Run, err error) ([]*play.Case, [][]*play.Run, *outcome.Partial, error) {
	if err == nil {
		return plans, results, nil, nil
	}
	var by shell.Stopped
	if !errors.As(context.Cause(ctx), &by) {
		return nil, nil, nil, err
	}
	kept, out, done := play.Finished(plans, results)
	if done == 0 {
		return nil, nil, nil, by
	}
	part := &outcome.Partial{Done: done, Asked: o.Runs * len(plans), Why: by.Error()}
	return kept, out, part, nil
}

// stoppedError is the error after an interrupted result was written.
func (o *SimulateOptions) stoppedError(ctx context.Context, p *outcome.Partial) error {
	var by shell.Stopped
	errors.As(context.Cause(ctx), &by)
	where := "the result is of those"
	if o.dir != "" {
		where = "they are in " + o.dir
	}
	return &shell.KeptError{By: by, Text: fmt.Sprintf("%d of %d runs were done: %s", p.Done, p.Asked, where)}
}
