package schema

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/textproto"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"capcli/scenarios"
)

// TestEditor asks the server by which editors check YAML (npm: yaml-language-server) what is wrong in
// scenarios whose first line names the schema. CAPCLI_YAML_SERVER or the path names the server's program.
func TestEditor(t *testing.T) {
	program := os.Getenv("CAPCLI_YAML_SERVER")
	if program == "" {
		found, err := exec.LookPath("yaml-language-server")
		if err != nil {
			t.Skip("there is no yaml-language-server here: npm install yaml-language-server, and CAPCLI_YAML_SERVER=node_modules/.bin/yaml-language-server")
		}
		program = found
	}
	folder := t.TempDir()
	s, err := Print("scenario", false)
	if err != nil {
		t.Fatal(err)
	}
	text, err := marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "scenario.schema.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	server := startEditor(t, program, folder)
	const head = "# yaml-language-server: $schema=scenario.schema.json\n"
	pool := "capcli: scenario/v1\ncapacity: [{kind: owned, gpus: 4, price: 1}]\n"
	for i, tt := range []struct{ text, want string }{
		{scenarios.Template(), ""},
		{pool, ""},
		{pool + "polcy: easy\n", "Property polcy is not allowed"},
		{pool + "policy: easyy\n", "Value is not accepted"},
		{pool + "seed: many\n", "does not match the pattern"},
		{strings.Replace(pool, "gpus: 4", "gpus: 0", 1), "below the minimum"},
		{"capcli: scenario/v1\n", `Missing property "capacity"`},
	} {
		said := server.diagnose(t, filepath.Join(folder, fmt.Sprintf("%d.yaml", i)), head+tt.text)
		if tt.want == "" && said != "" || !strings.Contains(said, tt.want) {
			t.Errorf("%.60q…: the editor says %q, want %q", tt.text, said, tt.want)
		}
	}
	for _, name := range scenarios.Names() {
		text, _ := scenarios.Library(name)
		if said := server.diagnose(t, filepath.Join(folder, name+".yaml"), head+string(text)); said != "" {
			t.Errorf("library %s: the editor says %q", name, said)
		}
	}
}

// editor speaks the Language Server Protocol with a server over pipes.
type editor struct {
	in  io.Writer
	out chan message
}

type message struct {
	ID     *json.RawMessage `json:"id,omitempty"`
	Method string           `json:"method,omitempty"`
	Params json.RawMessage  `json:"params,omitempty"`
}

func startEditor(t *testing.T, program, folder string) *editor {
	t.Helper()
	cmd := exec.Command(program, "--stdio")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	x := &editor{in: in, out: make(chan message, 100)}
	go x.listen(out)
	x.send(t, map[string]any{"id": 1, "method": "initialize", "params": map[string]any{
		"processId": os.Getpid(), "rootUri": "file://" + folder, "capabilities": map[string]any{"textDocument": map[string]any{"publishDiagnostics": map[string]any{}}},
	}})
	x.send(t, map[string]any{"method": "initialized", "params": map[string]any{}})
	x.send(t, map[string]any{"method": "workspace/didChangeConfiguration", "params": map[string]any{
		"settings": map[string]any{"yaml": map[string]any{"validate": true, "schemaStore": map[string]any{"enable": false}}},
	}})
	return x
}

// listen puts each message of the server into x.out.
func (x *editor) listen(from io.Reader) {
	defer close(x.out)
	r := bufio.NewReader(from)
	for {
		head, err := textproto.NewReader(r).ReadMIMEHeader()
		if err != nil {
			return
		}
		n, err := strconv.Atoi(head.Get("Content-Length"))
		if err != nil {
			return
		}
		text := make([]byte, n)
		if _, err := io.ReadFull(r, text); err != nil {
			return
		}
		var m message
		if json.Unmarshal(text, &m) == nil {
			x.out <- m
		}
	}
}

func (x *editor) send(t *testing.T, m map[string]any) {
	t.Helper()
	m["jsonrpc"] = "2.0"
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(x.in, "Content-Length: %d\r\n\r\n%s", len(text), text); err != nil {
		t.Fatal(err)
	}
}

// diagnose opens a text under a name and returns what the server finds wrong in it.
func (x *editor) diagnose(t *testing.T, name, text string) string {
	t.Helper()
	uri := "file://" + name
	x.send(t, map[string]any{"method": "textDocument/didOpen", "params": map[string]any{
		"textDocument": map[string]any{"uri": uri, "languageId": "yaml", "version": 1, "text": text},
	}})
	for end := time.After(30 * time.Second); ; {
		select {
		case m, ok := <-x.out:
			if !ok {
				t.Fatal("the server ended")
			}
			if m.ID != nil && m.Method != "" { // a request of the server: it has no answer of us
				x.send(t, map[string]any{"id": m.ID, "result": []any{}})
			}
			var p struct {
				URI         string `json:"uri"`
				Diagnostics []struct {
					Message string `json:"message"`
				} `json:"diagnostics"`
			}
			if m.Method != "textDocument/publishDiagnostics" || json.Unmarshal(m.Params, &p) != nil || p.URI != uri {
				continue
			}
			var said []string
			for _, d := range p.Diagnostics {
				said = append(said, d.Message)
			}
			return strings.Join(said, "; ")
		case <-end:
			t.Fatalf("the server says nothing of %s", name)
		}
	}
}
