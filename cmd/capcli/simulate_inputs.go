package main

import (
	"errors"
	"io/fs"
	"path/filepath"

	"capcli/scenarios/play"
	"capcli/simulate/plan/shard"
)

// inputsFile is the name, in a plan's folder, of what its runs were made from.
const inputsFile = "inputs.json"

// inputs are what the runs of plan p were made from; files are all that was read.
func (o *simulateOptions) inputs(p *play.Case, runs int, folder string, files []shard.Input) *play.Inputs {
	s := p.Scenario
	in := &play.Inputs{
		Schema: play.InputsSchema, Version: versionText(), Sets: list(o.sets), Files: []play.FileInput{},
		Policy: s.PolicyName(), Placement: s.PlacementName(), Perfect: o.perfect, Seed: uint64(p.Seed), Runs: runs,
		Scenario: play.ScenarioInput{
			FileInput: play.FileInput{File: s.File, Here: seenFrom(folder, s.File), SHA256: play.Checksum(p.Text)}, Text: string(p.Text), Made: list(p.Made),
		},
	}
	if o.trace != "" {
		in.Trace = &play.TraceInput{
			File: o.trace, Format: o.read.format, TZ: o.read.tz, DST: o.read.dst, Map: o.read.maps, Columns: o.read.columns, AllowCut: o.read.allowCut,
		}
	}
	for _, f := range files {
		in.Files = append(in.Files, play.FileInput{File: f.Name, Here: seenFrom(folder, f.Name), SHA256: f.SHA256})
	}
	return in
}

// seenFrom is a file's path from a folder, so that both can move together; the
// path itself where there is no way.
func seenFrom(folder, file string) string {
	a, errA := filepath.Abs(folder)
	b, errB := filepath.Abs(file)
	rel, err := filepath.Rel(a, b)
	if errA != nil || errB != nil || err != nil {
		return filepath.ToSlash(file)
	}
	return filepath.ToSlash(rel)
}

// inputsMax bounds a folder's inputs file.
const inputsMax = 16 << 20

// readInputs reads what the runs of a folder were made from; nil where the
// folder does not say, as those of older versions.
func readInputs(e *env, folder string) (*play.Inputs, error) {
	file := filepath.Join(folder, inputsFile)
	text, err := readFile(e, file, inputsMax)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // nothing kept is no error here
	}
	if err != nil {
		return nil, err
	}
	return play.ParseInputs(file, text)
}
