package serve

import (
	"flag"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"capcli/scenarios/play"
)

var update = flag.Bool("update", false, "write the transcripts of docs/serve.md anew")

// transcript is a block of docs/serve.md that the test runs.
var transcript = regexp.MustCompile("(?s)```transcript\n(.*?)```")

// TestDocument runs the transcripts of docs/serve.md against a server of the default scenario: each line
// that starts with "$ " by a shell, and what follows it is what the shell prints.
func TestDocument(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh")
	}
	if out, err := exec.Command("curl", "--help", "all").Output(); err != nil || !strings.Contains(string(out), "--json") {
		t.Skip("curl 7.82 or later is not installed: the transcripts are not run")
	}
	file := filepath.Join("..", "..", "docs", "serve.md")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, body := range map[string]string{
		"token": testToken, "64.json": `{"set": ["capacity.base.gpus=64"]}` + "\n",
		"sjf.json": `{"changes": [{"path": "capacity.base.gpus", "value": "64"}, {"path": "policy", "value": "sjf"}]}` + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := start(t, Options{Runs: []Run{*newRun(t, &opened{}, "default", play.Question{})}})
	ran := 0
	got := transcript.ReplaceAllStringFunc(string(text), func(block string) string {
		var out strings.Builder
		for line := range strings.Lines(block) {
			command, is := strings.CutPrefix(line, "$ ")
			if !is {
				continue
			}
			ran++
			cmd := exec.Command(shell, "-c", strings.ReplaceAll(command, "127.0.0.1:8640", s.address))
			cmd.Dir = dir
			printed, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%s: %v: %s", command, err, printed)
			}
			out.WriteString(line + strings.TrimRight(string(printed), "\n") + "\n")
		}
		return "```transcript\n" + out.String() + "```"
	})
	if ran < 5 {
		t.Errorf("%d commands were run", ran)
	}
	if got != string(text) && *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if got != string(text) {
		t.Errorf("the transcripts are not what the server answers (go test ./cmd/serve -run TestDocument -update); they would be\n%s", transcript.FindString(got))
	}
	for _, o := range operations {
		if !o.hidden && !strings.Contains(got, o.method+" "+o.path) {
			t.Errorf("docs/serve.md does not name %s %s", o.method, o.path)
		}
	}
	if code, _, _ := exchange(t, s.request(http.MethodGet, "/v1/runs", "", nil)); code != http.StatusOK {
		t.Errorf("the server answers %d after it", code)
	}
}
