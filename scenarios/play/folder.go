package play

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"capcli/profile/logs/trace"
	"capcli/scenarios"
)

// InputsFile is the name of the file, in a folder of runs, with the inputs of the runs.
const InputsFile = "inputs.json"

// inputsMax is the most bytes of that file that are read.
const inputsMax = 16 << 20

// Folder is a folder with the runs of one case.
type Folder struct {
	Path   string
	Open   trace.Opener
	Exists func(path string) bool // whether something is at a path
}

// Next returns what to type after runs were written, with ". next: " before it: to compare two of several, to explain the
// waits of one, or where nobody waited to show it. It is "" where a single run cannot be played again. first is the first run.
func Next(folders []string, first *Run, replays bool) string {
	switch most := first.WaitMax; {
	case len(folders) > 1:
		return ". next: capcli compare " + folders[0] + " " + folders[1]
	case !replays:
		return ""
	case most != nil && *most == 0:
		return ". next: capcli report " + folders[0] + " --out meeting.html"
	}
	return ". next: capcli explain " + folders[0] + " wait_p95"
}

// Inputs reads the inputs of the folder's runs; nil if the folder has none, as folders of older
// versions.
func (f *Folder) Inputs() (*Inputs, error) {
	file := filepath.Join(f.Path, InputsFile)
	text, err := f.Open.ReadFile(file, inputsMax)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // nothing kept is no error here
	}
	if err != nil {
		return nil, err
	}
	return ParseInputs(file, text)
}

// Complete makes q ask for the case of the folder, whose inputs are in. Fields that q sets itself
// take precedence, and its Sets come after those of the folder. It fails with *MissingInputError if
// an input is gone, and with *capcli.InputError if one has changed.
func (f *Folder) Complete(q *Question, in *Inputs) error {
	kept := ScenarioText{YAML: []byte(in.Scenario.Text), File: in.Scenario.File, Made: in.Scenario.Made}
	if here := filepath.Join(f.Path, filepath.FromSlash(in.Scenario.Here)); !f.Exists(kept.File) || f.Exists(here) {
		kept.File = here
	}
	q.Kept = &kept
	q.Sets = append(slices.Clone(in.Sets), q.Sets...)
	q.Policy, q.Place = cmp.Or(q.Policy, in.Policy), cmp.Or(q.Place, in.Placement)
	q.Perfect = q.Perfect || in.Perfect
	if q.Seed == nil {
		q.Seed = &in.Seed
	}
	if q.Trace != "" {
		return nil
	}
	for _, x := range in.Files {
		if x.File == in.Scenario.File { // its text is in the folder
			continue
		}
		path, err := in.Find(f.Open, f.Path, x.File)
		if err != nil {
			return err
		}
		if in.Trace != nil && x.File == in.Trace.File {
			q.Trace = path
		}
	}
	if in.Trace == nil {
		return nil
	}
	if in.Trace.File == "-" {
		return &MissingInputError{
			Text: fmt.Sprintf("the jobs of %s came from stdin, which is gone", f.Path),
			Hint: "give them again: --trace FILE, or - for stdin",
		}
	}
	q.Trace = cmp.Or(q.Trace, in.Trace.File)
	if q.Read.IsEmpty() {
		q.Read = in.Trace.Request
	}
	return nil
}

// KeptName returns the name by which a command line names the kept scenario: the name of a library
// scenario, "" for one made for the trace, else its file.
func (q *Question) KeptName() string {
	name := strings.TrimSuffix(filepath.Base(q.Kept.File), ".yaml")
	if text, ok := scenarios.Library(name); ok && string(text) == string(q.Kept.YAML) {
		return name
	}
	if q.Kept.File == "trace.yaml" && q.Trace != "" {
		return ""
	}
	return q.Kept.File
}

// InputsOf returns the inputs of the runs of a case that q asked for. seen returns the path of a
// file relative to the runs' folder; files are all files that were read.
func InputsOf(c *Case, q *Question, runs int, seen func(file string) string, files []FileInput) *Inputs {
	s := c.Scenario
	in := &Inputs{
		Schema: inputsSchema, Sets: append([]string{}, q.Sets...), Files: append([]FileInput{}, files...),
		Policy: s.PolicyName(), Placement: s.PlacementName(), Perfect: q.Perfect, Seed: c.Seed, Runs: runs,
		Scenario: ScenarioInput{
			FileInput: FileInput{File: s.File, Here: seen(s.File), SHA256: Checksum(c.Text)}, Text: string(c.Text), Made: append([]string{}, c.Made...),
		},
	}
	if q.Trace != "" {
		in.Trace = &TraceInput{File: q.Trace, Request: q.Read}
	}
	for i := range in.Files {
		in.Files[i].Here = seen(in.Files[i].File)
	}
	return in
}
