package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"capcli/cmd/schema"
	"capcli/cmd/shell"
	"capcli/testdata/golden"
	"capcli/testdata/shelltest"
)

// recordFolder is the environment variable with the folder in which recorded keeps what the program says.
const recordFolder = "CAPCLI_TEST_RECORD"

// recorded is the program of the scripts: it also keeps what goes to a pipe on stdout and stderr in
// recordFolder.
func recorded() {
	folder := os.Getenv(recordFolder)
	if folder == "" {
		os.Exit(runAndNext())
	}
	var end []func()
	for _, stream := range []**os.File{&os.Stdout, &os.Stderr} {
		if info, err := (*stream).Stat(); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
			continue // a file or a device that answers for itself
		}
		end = append(end, tee(stream, folder))
	}
	code := runAndNext()
	for _, f := range end {
		f()
	}
	os.Exit(code)
}

// tee puts a pipe before a stream and copies what comes to the stream and to a file in folder. It returns a
// function that waits for the end.
func tee(stream **os.File, folder string) func() {
	really := *stream
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	kept, err := os.CreateTemp(folder, "said")
	if err != nil {
		panic(err)
	}
	*stream = w
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(io.MultiWriter(really, kept), r)
		_, _ = io.Copy(io.Discard, r)
	}()
	return func() {
		_ = w.Close()
		<-done
		_ = kept.Close()
		*stream = really
	}
}

// seenDocuments holds every document that the scripts make against its schema.
type seenDocuments struct {
	mu         sync.Mutex
	validators map[string]*jsonschema.Schema
	ids        map[string]int
}

// watch has the documents of a script checked at its end: what the program said on a pipe, and the files
// that it left in the script's folder.
func (s *seenDocuments) watch(e *testscript.Env) error {
	folder, err := os.MkdirTemp("", "said")
	if err != nil {
		return err
	}
	e.Setenv(recordFolder, folder)
	own := map[string]bool{} // files of the script itself
	err = eachFile(e.WorkDir, func(name string) error { own[name] = true; return nil })
	t := e.T()
	e.Defer(func() {
		defer func() { _ = os.RemoveAll(folder) }()
		check := func(name string) error {
			if own[name] {
				return nil
			}
			return s.checkFile(name)
		}
		for _, in := range []string{folder, e.WorkDir} {
			if err := eachFile(in, check); err != nil {
				t.Log(err)
				t.FailNow()
			}
		}
	})
	return err
}

func eachFile(folder string, f func(name string) error) error {
	return filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil //nolint:nilerr // a folder that a script closed to itself
		}
		return f(name)
	})
}

// checkFile holds the document in a file against its schema, or those on its lines.
func (s *seenDocuments) checkFile(name string) error {
	text, err := os.ReadFile(name)
	if err != nil || !bytes.Contains(text, []byte(`"schema"`)) {
		return nil //nolint:nilerr // a file that a script closed to itself
	}
	if err := s.check(text); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	for line := range bytes.Lines(text) {
		if err := s.check(line); err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(name), err)
		}
	}
	return nil
}

// check holds a text against the schema that it names. A text that is no JSON object, or names none, passes.
func (s *seenDocuments) check(text []byte) error {
	text = bytes.TrimSpace(text)
	var head struct {
		Schema string `json:"schema"`
	}
	if len(text) == 0 || text[0] != '{' || json.Unmarshal(text, &head) != nil || !strings.HasPrefix(head.Schema, "capcli/") {
		return nil
	}
	v, err := s.validator(head.Schema)
	if err != nil {
		return err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	if err := v.Validate(doc); err != nil {
		return fmt.Errorf("%s is not as its schema says: %w", head.Schema, err)
	}
	return nil
}

// validator returns the validator of a document, made from its closed schema.
func (s *seenDocuments) validator(id string) (*jsonschema.Schema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids[id]++
	if v := s.validators[id]; v != nil {
		return v, nil
	}
	said, err := schema.Print(id, true)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(said)
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(said.ID, doc); err != nil {
		return nil, err
	}
	v, err := c.Compile(said.ID)
	if err == nil {
		if s.validators == nil {
			s.validators = map[string]*jsonschema.Schema{}
		}
		s.validators[id] = v
	}
	return v, err
}

// elsewhere are documents that no script can make, and the test that holds them against their schema.
var elsewhere = map[string]string{
	"capcli/progress/v1": "TestDocumentsOfSeconds: the script would have to be slow",
	"capcli/report/v1":   "the package of papers",
	"capcli/runs/v1":     "the package of the server",
	"capcli/live/v1":     "the package of live pages",
	"capcli/vary/v1":     "the package of live pages of decisions",
	"capcli/whatif/v1":   "the package of live pages",
}

// report logs how many documents of each kind were held against their schemas. Where every script ran, each
// output must have been seen.
func (s *seenDocuments) report(t *testing.T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range schema.Documents.All() {
		if n := s.ids[d.Value.ID]; n > 0 {
			t.Logf("%6d  %s", n, d.Value.ID)
		} else if d.Value.Output && elsewhere[d.Value.ID] == "" && flag.Lookup("test.run").Value.String() == "" && !golden.Short() {
			t.Errorf("no script makes the document %s with -o json", d.Value.ID)
		}
	}
}

// TestDocumentsOfSeconds holds the lines of --progress json against their schema.
func TestDocumentsOfSeconds(t *testing.T) {
	e, _, stderr := shelltest.NewEnv()
	seen := &seenDocuments{ids: map[string]int{}}
	for _, total := range []int64{0, 5} {
		begun := time.Unix(0, 0)
		e.Progress, e.Now = "json", func() time.Time { return begun }
		p := shell.NewProgress(e, "runs")
		begun = begun.Add(2 * time.Second)
		p.ShowAtMost(3, total)
	}
	for line := range bytes.Lines(stderr.Bytes()) {
		if err := seen.check(line); err != nil {
			t.Error(err)
		}
	}
	if seen.ids["capcli/progress/v1"] != 2 {
		t.Errorf("%d lines of progress, want 2: %s", seen.ids["capcli/progress/v1"], stderr)
	}
}

// openmetrics FILE has promtool judge a file, or stdout, where there is one.
func openMetrics(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: openmetrics FILE")
	}
	text, ok := strings.CutSuffix(ts.ReadFile(args[0]), "\n# EOF\n")
	if !ok {
		ts.Fatalf("no # EOF at the end of %s", args[0])
	}
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		return // Debian: prometheus; package report has a checker of its own
	}
	cmd := exec.Command(promtool, "check", "metrics")
	cmd.Stdin = strings.NewReader(text + "\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		ts.Fatalf("promtool: %v\n%s", err, out)
	}
}
