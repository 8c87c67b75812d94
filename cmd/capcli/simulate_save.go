package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"capcli"
	"capcli/cmd/files"
	"capcli/scenarios/play"
	"capcli/simulate/outcome"
)

// save writes each plan's runs into a folder of --out: result.json, which capcli compare reads,
// inputs.json, from which capcli explain replays the runs, and the tables of services.
func (o *simulateOptions) save(e *env, plans []*play.Case, folders map[*play.Case]string, results [][]*play.Run, part *outcome.Partial) error {
	if o.dir == "" {
		return nil
	}
	var wrote []string
	read, err := o.opened.Sums(&e.disk)
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
		inputs := play.InputsOf(p, &o.ask, len(results[i]), func(file string) string { return seenFrom(folder, file) }, used)
		inputs.Version = versionText()
		if err := e.disk.Mkdir(folder); err != nil {
			return &files.WriteError{Path: folder, Err: err}
		}
		contents, err := inputs.Contents(data, results[i][0])
		if err != nil {
			return err
		}
		for _, c := range contents {
			if err := writeWhole(e, filepath.Join(folder, c.Name), c.Text); err != nil {
				return err
			}
		}
		wrote = append(wrote, folder)
	}
	replays := o.ask.Trace != "-" && plans[0].Scenario.Kueue == nil // neither jobs from stdin nor Kueue's can be replayed
	e.say("wrote " + strings.Join(wrote, ", ") + play.Next(wrote, results[0][0], replays))
	return nil
}

// writeJSON writes data as indented JSON to the file name.
func writeJSON(e *env, name string, data any) error {
	var b bytes.Buffer
	if err := capcli.WriteJSON(&b, data); err != nil {
		return err
	}
	return writeWhole(e, name, b.Bytes())
}

// resultFile is the name of the result in a plan's folder.
const resultFile = play.ResultFile

// runFolders returns the name of each plan's folder under --out.
func runFolders(plans []*play.Case) map[*play.Case]string {
	out := map[*play.Case]string{}
	for _, p := range plans {
		out[p] = runFolder(p, plans)
	}
	return out
}

// runFolder is the name of the plan's folder: its scenario, with the policy and the placement if
// another plan has the same scenario. Every character but letters, digits, dots, dashes and
// underscores becomes a dash, so that a name cannot lead outside --out.
func runFolder(p *play.Case, all []*play.Case) string {
	name := p.Scenario.Name
	for _, other := range all {
		if other != p && other.Scenario.Name == name {
			name += "-" + p.Scenario.PolicyName() + "-" + p.Scenario.PlacementName()
			break
		}
	}
	return play.FileName(name)
}

// seenFrom returns the path of file relative to folder, so that both can move together; or the path
// itself if there is no relative one.
func seenFrom(folder, file string) string {
	a, errA := filepath.Abs(folder)
	b, errB := filepath.Abs(file)
	rel, err := filepath.Rel(a, b)
	if errA != nil || errB != nil || err != nil {
		return filepath.ToSlash(file)
	}
	return filepath.ToSlash(rel)
}

// keptError is the error of a signal that ended the work, with what was kept of it.
type keptError struct {
	by   stopped
	text string
}

func (e *keptError) Error() string { return e.by.Error() + "; " + e.text }
func (e *keptError) Unwrap() error { return e.by }

// finishedRuns returns the runs of each plan that were done when a signal came: those from the
// first on without a gap, so that the result can be replayed. Plans without any are left out.
// Without an error it returns the plans and a nil Partial. It fails where the error is no signal,
// or where nothing can be kept.
func (o *simulateOptions) finishedRuns(ctx context.Context, plans []*play.Case, results [][]*play.Run, err error) ([]*play.Case, [][]*play.Run, *outcome.Partial, error) {
	if err == nil {
		return plans, results, nil, nil
	}
	var by stopped
	if !errors.As(context.Cause(ctx), &by) {
		return nil, nil, nil, err
	}
	kept, out, done := play.Finished(plans, results)
	if done == 0 {
		return nil, nil, nil, by
	}
	part := &outcome.Partial{Done: done, Asked: o.runs * len(plans), Why: by.Error()}
	return kept, out, part, nil
}

// partialLead says how many runs an interrupted result has.
func partialLead(p *outcome.Partial) string {
	why := strings.ToUpper(p.Why[:1]) + p.Why[1:]
	return fmt.Sprintf("%s after %d of %d runs: what follows is of those.", why, p.Done, p.Asked)
}

// stoppedError is the error after an interrupted result was written.
func (o *simulateOptions) stoppedError(ctx context.Context, p *outcome.Partial) error {
	var by stopped
	errors.As(context.Cause(ctx), &by)
	where := "the result is of those"
	if o.dir != "" {
		where = "they are in " + o.dir
	}
	return &keptError{by: by, text: fmt.Sprintf("%d of %d runs were done: %s", p.Done, p.Asked, where)}
}
