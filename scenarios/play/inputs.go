package play

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

	"capcli"
	"capcli/profile/logs/trace"
)

const inputsSchema = "capcli/inputs/v1"

// Inputs are the inputs of the runs in a folder, from which the same runs can be made again.
type Inputs struct {
	Schema    string        `json:"schema"`
	Version   string        `json:"capcli"`
	Scenario  ScenarioInput `json:"scenario"`
	Sets      []string      `json:"set"`
	Policy    string        `json:"policy"`
	Placement string        `json:"placement"`
	Perfect   bool          `json:"perfect_estimates"`
	Seed      capcli.Seed   `json:"seed"`
	Runs      int           `json:"runs"`
	Trace     *TraceInput   `json:"trace"`             // null: the scenario names its jobs
	Files     []FileInput   `json:"files"`             // all files that were read
	Results   []ResultSum   `json:"results,omitempty"` // the other files of the folder; older versions have none
}

// ScenarioInput is the scenario as it was read, kept in case its file changes.
type ScenarioInput struct {
	FileInput
	Text string   `json:"text"`
	Made []string `json:"notes"` // assumptions made when it was written for a trace
}

// TraceInput is the trace, and how it was read.
type TraceInput struct {
	File string `json:"file"`
	trace.Request
}

// FileInput is a file: its name as given, its path relative to the runs' folder, and its checksum.
type FileInput struct {
	File   string `json:"file"`
	Here   string `json:"from_here"`
	SHA256 string `json:"sha256"`
}

// ResultSum is a file that was written into a folder of runs: its name there and its checksum.
type ResultSum struct {
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
}

// Checksum returns the SHA-256 of a text, in hexadecimal.
func Checksum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// ParseInputs reads and checks the inputs file of a folder. It fails with *capcli.InputError.
func ParseInputs(file string, text []byte) (*Inputs, error) {
	bad := func(field, format string, args ...any) error {
		return &capcli.InputError{
			File: file, Field: field, Text: fmt.Sprintf(format, args...),
			Hint: "the folder is damaged: make it again with capcli simulate --out",
		}
	}
	var in Inputs
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, bad("", "expected the inputs of a run, found %s", err)
	}
	switch {
	case in.Schema != inputsSchema:
		return nil, bad("schema", "expected %s, found %q", inputsSchema, in.Schema)
	case in.Scenario.SHA256 != Checksum([]byte(in.Scenario.Text)):
		return nil, bad("scenario", "the scenario's text is not the one that its checksum is of")
	case in.Runs < 1 || in.Runs > 1_000_000:
		return nil, bad("runs", "expected 1 to 1000000 runs, found %d", in.Runs)
	case in.Scenario.File == "":
		return nil, bad("scenario", "expected a scenario with a file, found none")
	}
	return &in, nil
}

// Find returns the path of an input file that is unchanged. It looks relative to the folder first,
// then at the name as given. It fails with *capcli.InputError if the file has changed, and with
// *MissingInputError if it is gone.
func (in *Inputs) Find(open trace.Opener, folder, name string) (string, error) {
	i := slices.IndexFunc(in.Files, func(f FileInput) bool { return f.File == name })
	if i < 0 {
		return name, nil
	}
	f := &in.Files[i]
	for _, path := range []string{filepath.Join(folder, filepath.FromSlash(f.Here)), f.File} {
		sum, err := checksumOf(open, path)
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
	return "", &MissingInputError{
		Text: fmt.Sprintf("the runs of %s were made from %s, which is not there any more", folder, f.File),
		Hint: "bring it back to its place, or say where it is: --trace FILE",
	}
}

// MissingInputError says that an input of runs is missing, with a hint on what to do. It wraps
// fs.ErrNotExist.
type MissingInputError struct{ Text, Hint string }

func (e *MissingInputError) Error() string { return e.Text }

// Unwrap returns fs.ErrNotExist.
func (e *MissingInputError) Unwrap() error { return fs.ErrNotExist }

func checksumOf(open trace.Opener, name string) (string, error) {
	in, done, err := open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = done.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, in.R); err != nil {
		return "", fmt.Errorf("cannot read %s: %w", name, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
