//go:build !js

package play

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"capcli"
	"capcli/simulate/serving/service"
)

// ResultFile is the name of the file, in a folder of runs, with their outcomes.
const ResultFile = "result.json"

// Content is a file of a folder of runs.
type Content struct {
	Name string
	Text []byte
}

// Contents returns the files of a folder of runs, of which the first is r and document holds the outcomes: the
// document, what Kueue decided, the tables of services, and last the inputs, with the checksums of the others.
func (in *Inputs) Contents(document any, r *Run) ([]Content, error) {
	var out []Content
	var fault error
	add := func(name string, write func(io.Writer) error) {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			fault = errors.Join(fault, err)
		}
		out = append(out, Content{name, b.Bytes()})
	}
	addJSON := func(name string, x any) {
		add(name, func(w io.Writer) error { return capcli.WriteJSON(w, x) })
	}
	addJSON(ResultFile, document)
	if r.Study != nil {
		addJSON("kueue.json", r.Study.Result())
	}
	for i := range r.Services {
		name := FileName(r.Services[i].Name)
		add("replicas-"+name+".csv", func(w io.Writer) error { return service.WriteSteps(w, &r.Result.Services[i]) })
		if x := r.Levels[i].Replay; x != nil {
			add("requests-"+name+".csv", func(w io.Writer) error { return service.WriteServed(w, x.Served) })
		}
	}
	in.Results = []ResultSum{}
	for _, c := range out {
		in.Results = append(in.Results, ResultSum{c.Name, Checksum(c.Text)})
	}
	addJSON(InputsFile, in)
	return out, fault
}

// Folders returns the name of the folder of each case's runs: its scenario, with the policy and the
// placement where another case has the same scenario, as FileName writes it.
func Folders(cases []*Case) map[*Case]string {
	out := map[*Case]string{}
	for _, c := range cases {
		name := c.Scenario.Name
		if slices.ContainsFunc(cases, func(other *Case) bool { return other != c && other.Scenario.Name == name }) {
			name += "-" + c.Scenario.PolicyName() + "-" + c.Scenario.PlacementName()
		}
		out[c] = FileName(name)
	}
	return out
}

// FileName returns a name of which no character but letters, digits, dots, dashes and underscores is left.
func FileName(name string) string {
	safe := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return '-'
	}, name)
	if safe = strings.TrimLeft(safe, "."); safe == "" {
		return "plan"
	}
	return safe
}

// Verified is what Verify found.
type Verified struct {
	Folders, Files int      // that were checked
	Problems       []error  // files that are gone, or not what was written
	Notes          []string // inputs that are gone or have changed since
}

// Verify checks the files of a folder of runs, or those of the folders of runs in it, against the checksums in their
// inputs. names are the names in the folder. It returns nil where there are no runs, and an error where it cannot read.
func (f *Folder) Verify(names []string) (*Verified, error) {
	v := &Verified{}
	if f.Exists(filepath.Join(f.Path, InputsFile)) {
		return v, v.check(f)
	}
	for _, name := range names {
		x := &Folder{Path: filepath.Join(f.Path, name), Open: f.Open, Exists: f.Exists}
		if !f.Exists(filepath.Join(x.Path, InputsFile)) {
			continue
		}
		if err := v.check(x); err != nil {
			return nil, err
		}
	}
	if v.Folders == 0 {
		return nil, nil //nolint:nilnil // a folder of something else is no error here
	}
	return v, nil
}

func (v *Verified) check(f *Folder) error {
	v.Folders++
	const again = "bring the old file back, or make the folder again with capcli simulate --out"
	in, err := f.Inputs()
	var damaged *capcli.InputError
	if errors.As(err, &damaged) {
		v.Problems = append(v.Problems, err)
		return nil
	}
	if err != nil {
		return err
	}
	v.Files++
	if in.Results == nil {
		v.Problems = append(v.Problems, &capcli.InputError{File: filepath.Join(f.Path, InputsFile), Field: "results", Text: "has no checksums of the results, as an older version wrote it: they cannot be verified", Hint: "make the folder again with capcli simulate --out"})
	}
	for _, r := range in.Results {
		path := filepath.Join(f.Path, filepath.Base(r.File))
		sum, err := checksumOf(f.Open, path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			v.Problems = append(v.Problems, &capcli.InputError{File: path, Text: "is gone", Hint: again})
		case err != nil:
			return err
		case sum != r.SHA256:
			v.Problems = append(v.Problems, &capcli.InputError{File: path, Text: fmt.Sprintf("is not what was written: expected sha256 %.12s…, found %.12s…", r.SHA256, sum), Hint: again})
		default:
			v.Files++
		}
	}
	for _, x := range in.Files {
		if x.File == "-" || x.File == in.Scenario.File {
			continue
		}
		if _, err := in.Find(f.Open, f.Path, x.File); err != nil {
			v.Notes = append(v.Notes, err.Error())
		}
	}
	return nil
}
