package paper

import (
	"bytes"
	"encoding/json"
	"fmt"

	"capcli"
	"capcli/profile/logs/trace"
	"capcli/scenarios/play"
)

// Recheck says whether a paper is what its inputs make today.
type Recheck struct {
	Schema  string         `json:"schema"`
	Same    bool           `json:"same"`    // every input is unchanged, and the paper made again is equal
	Version string         `json:"capcli"`  // version of the program that made the paper
	Now     string         `json:"now"`     // version of the program that checked it
	Inputs  []CheckedInput `json:"inputs"`  // in the order of the paper
	Differs []string       `json:"differs"` // parts of the paper that are made otherwise today
	Command string         `json:"command"` // makes the paper
}

// CheckedInput is an input of a paper, and what has become of it.
type CheckedInput struct {
	Input
	Now   string `json:"sha256_now"` // "" where it cannot be read
	State string `json:"state"`      // same, changed, or gone
}

// The states of an input.
const (
	stateSame    = "same"
	stateChanged = "changed"
	stateGone    = "gone"
)

// Check makes the paper in a document again, from the inputs that it names, and compares. It fails
// with *capcli.InputError where text is no document of a paper. file is its name.
func Check(open trace.Opener, file string, text []byte, version string) (*Recheck, error) {
	var old Paper
	if err := json.Unmarshal(text, &old); err != nil || old.Schema != Schema {
		return nil, &capcli.InputError{
			File: file, Text: fmt.Sprintf("expected a paper of capcli report (%s), found the schema %.60q", Schema, old.Schema),
			Hint: "capcli report --check meeting.html", Err: err,
		}
	}
	out := &Recheck{Schema: "capcli/report_check/v1", Version: old.Version, Now: version, Inputs: []CheckedInput{}, Differs: []string{}, Command: old.Command}
	request := Request{Title: old.Title, Version: old.Version, Command: old.Command}
	same, gone := true, false
	for _, in := range old.Inputs {
		state := CheckedInput{Input: in, State: stateGone}
		if f, err := ReadFile(open, in.File); err == nil && in.Of == "" {
			state.Now = play.Checksum(f.Text)
			request.Files = append(request.Files, *f)
		} else if in.Of != "" {
			state.Now = inputSum(open, in)
		}
		switch state.Now {
		case "":
			gone = gone || in.Of == ""
		case in.SHA256:
			state.State = stateSame
		default:
			state.State = stateChanged
		}
		same = same && state.State == stateSame
		out.Inputs = append(out.Inputs, state)
	}
	if gone {
		out.Differs = append(out.Differs, "a result is gone, so the paper cannot be made again")
		return out, nil
	}
	again, err := Make(&request)
	if err != nil {
		return nil, err
	}
	if out.Differs, err = differences(&old, again, text); err != nil {
		return nil, err
	}
	out.Same = same && len(out.Differs) == 0
	return out, nil
}

// inputSum returns the checksum of an input of a run; "" where it is gone. The scenario of a run is
// kept in its folder, so it is read from there.
func inputSum(open trace.Opener, in Input) string {
	f, err := ReadFile(open, in.Of)
	if err != nil || f.Inputs == nil {
		return ""
	}
	if in.File == f.Inputs.Scenario.File {
		return f.Inputs.Scenario.SHA256
	}
	for i := range f.Inputs.Files {
		if f.Inputs.Files[i].File == in.File {
			return currentSum(open, in.Of, f.Inputs, i)
		}
	}
	return ""
}

// differences names the parts of a paper that are not as they were.
func differences(old, again *Paper, text []byte) ([]string, error) {
	now, err := json.Marshal(again)
	if err != nil {
		return nil, err
	}
	var was bytes.Buffer
	if err := json.Compact(&was, text); err != nil {
		return nil, err
	}
	out := []string{}
	if bytes.Equal(now, was.Bytes()) {
		return out, nil
	}
	part := func(name string, a, b any) {
		x, errX := json.Marshal(a)
		y, errY := json.Marshal(b)
		if errX != nil || errY != nil || !bytes.Equal(x, y) {
			out = append(out, name)
		}
	}
	part("the answer", old.Answer, again.Answer)
	for i := range max(len(old.Figures), len(again.Figures)) {
		switch {
		case i >= len(old.Figures):
			out = append(out, "the figure "+again.Figures[i].ID+" is new")
		case i >= len(again.Figures):
			out = append(out, "the figure "+old.Figures[i].ID+" is gone")
		default:
			part("the figure "+old.Figures[i].ID, old.Figures[i], again.Figures[i])
		}
	}
	part("the tables", old.Tables, again.Tables)
	part("the assumptions", old.Assumptions, again.Assumptions)
	part("the glossary", old.Glossary, again.Glossary)
	part("the inputs", old.Inputs, again.Inputs)
	part("the seed", old.Seed, again.Seed)
	part("the warnings", old.Warnings, again.Warnings)
	part("the notes", old.Notes, again.Notes)
	if len(out) == 0 {
		out = append(out, "the document has fields that this program does not write")
	}
	return out, nil
}
