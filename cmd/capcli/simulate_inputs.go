package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"capcli/scenarios/play"
	"capcli/simulate/plan/shard"

	"capcli"
)

// inputsFile is the name, in a plan's folder, of what its runs were made from.
const inputsFile = "inputs.json"

// inputsJSON is what simulate --out keeps beside a result, so that capcli
// explain can make the same runs again: schema capcli/inputs/v1.
type inputsJSON struct {
	Schema    string        `json:"schema"`
	Version   string        `json:"capcli"`
	Scenario  scenarioInput `json:"scenario"`
	Sets      []string      `json:"set"`
	Policy    string        `json:"policy"`
	Placement string        `json:"placement"`
	Perfect   bool          `json:"perfect_estimates"`
	Seed      uint64        `json:"seed"`
	Runs      int           `json:"runs"`
	Trace     *traceInput   `json:"trace"` // null: the scenario says where its jobs come from
	Files     []fileInput   `json:"files"` // all that was read
}

// scenarioInput is the scenario as it was, whatever becomes of its file.
type scenarioInput struct {
	fileInput
	Text string   `json:"text"`
	Made []string `json:"notes"` // what was assumed when it was made for a trace
}

// traceInput is the --trace of the call, and how it was read.
type traceInput struct {
	File     string   `json:"file"`
	Format   string   `json:"format,omitempty"`
	TZ       string   `json:"tz,omitempty"`
	DST      string   `json:"dst,omitempty"`
	Map      []string `json:"map,omitempty"`
	Columns  string   `json:"columns_in,omitempty"`
	AllowCut bool     `json:"allow_cut,omitempty"`
}

// fileInput is a file: as it was named, as it is seen from the plan's folder,
// and what was in it.
type fileInput struct {
	File   string `json:"file"`
	Here   string `json:"from_here"`
	SHA256 string `json:"sha256"`
}

// inputs are what the runs of plan p were made from; files are all that was read.
func (o *simulateOptions) inputs(p *play.Case, runs int, folder string, files []shard.Input) *inputsJSON {
	s := p.Scenario
	sum := sha256.Sum256(p.Text)
	in := &inputsJSON{
		Schema: "capcli/inputs/v1", Version: versionText(), Sets: list(o.sets), Files: []fileInput{},
		Policy: s.PolicyName(), Placement: s.PlacementName(), Perfect: o.perfect, Seed: uint64(p.Seed), Runs: runs,
		Scenario: scenarioInput{fileInput{s.File, seenFrom(folder, s.File), hex.EncodeToString(sum[:])}, string(p.Text), list(p.Made)},
	}
	if o.trace != "" {
		in.Trace = &traceInput{o.trace, o.read.format, o.read.tz, o.read.dst, o.read.maps, o.read.columns, o.read.allowCut}
	}
	for _, f := range files {
		in.Files = append(in.Files, fileInput{f.Name, seenFrom(folder, f.Name), f.SHA256})
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
func readInputs(e *env, folder string) (*inputsJSON, error) {
	file := filepath.Join(folder, inputsFile)
	text, err := readFile(e, file, inputsMax)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // nothing kept is no error here
	}
	if err != nil {
		return nil, err
	}
	return parseInputs(file, text)
}

// parseInputs checks what a folder says that its runs were made from.
func parseInputs(file string, text []byte) (*inputsJSON, error) {
	bad := func(field, format string, args ...any) error {
		return &capcli.InputError{
			File: file, Field: field, Text: fmt.Sprintf(format, args...),
			Hint: "the folder is damaged: make it again with capcli simulate --out",
		}
	}
	var in inputsJSON
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, bad("", "expected the inputs of a run, found %s", err)
	}
	sum := sha256.Sum256([]byte(in.Scenario.Text))
	switch {
	case in.Schema != "capcli/inputs/v1":
		return nil, bad("schema", "expected capcli/inputs/v1, found %q", in.Schema)
	case in.Scenario.SHA256 != hex.EncodeToString(sum[:]):
		return nil, bad("scenario", "the scenario's text is not the one that its checksum is of")
	case in.Runs < 1 || in.Runs > 1_000_000:
		return nil, bad("runs", "expected 1 to 1000000 runs, found %d", in.Runs)
	case in.Scenario.File == "":
		return nil, bad("scenario", "expected a scenario with a file, found none")
	}
	return &in, nil
}

// find gives the path under which a file of the inputs is there and unchanged.
func (in *inputsJSON) find(e *env, folder, name string) (string, error) {
	i := slices.IndexFunc(in.Files, func(f fileInput) bool { return f.File == name })
	if i < 0 {
		return name, nil
	}
	f := &in.Files[i]
	for _, path := range []string{filepath.Join(folder, filepath.FromSlash(f.Here)), f.File} {
		sum, err := fileSum(e, path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return "", err
		case sum != f.SHA256:
			return "", &capcli.InputError{
				File: path, Text: fmt.Sprintf("the file has changed since %s was made: expected sha256 %.12s…, found %.12s…", folder, f.SHA256, sum),
				Hint: "bring the old file back, or make the folder again with capcli simulate --out",
			}
		}
		return path, nil
	}
	return "", &missingInput{folder, f.File}
}

// missingInput says that a file which a run was made from is gone.
type missingInput struct{ folder, file string }

func (e *missingInput) Error() string {
	return fmt.Sprintf("the runs of %s were made from %s, which is not there any more", e.folder, e.file)
}

func (e *missingInput) Unwrap() error { return fs.ErrNotExist }

// fileSum is the SHA-256 of a file.
func fileSum(e *env, name string) (string, error) {
	f, err := e.disk.open(name)
	if err != nil {
		return "", cannotOpen(name, err)
	}
	defer func() { _ = f.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", fmt.Errorf("cannot read %s: %w", name, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
