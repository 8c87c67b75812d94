package serve

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The answers are as the description says, and so are the requests of the tests.
func TestAnswersAreAsDescribed(t *testing.T) {
	s := start(t, Options{})
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(s.spec))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("openapi.json", doc); err != nil {
		t.Fatal(err)
	}
	holds := func(where, pointer, text string) {
		t.Helper()
		schema, err := c.Compile("openapi.json#" + pointer)
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		if err := schema.Validate(v); err != nil {
			t.Errorf("%s: %v", where, err)
		}
	}
	place := func(path, method string) string {
		return "/paths/" + strings.ReplaceAll(path, "/", "~1") + "/" + method
	}
	const media = "/content/application~1json/schema"
	for _, q := range []struct{ path, body string }{
		{"/v1/simulate", `{"set":["capacity.base.gpus=64"],"runs":2}`},
		{"/v1/whatif", `{"changes":[{"path":"policy","value":"sjf"}]}`},
		{"/v1/plan", `{"runs":1,"vary":["capacity.base.gpus=32,40"],"max":["cost=1M","wait_p95=10h"],"hold":0.9}`},
		{"/v1/forecast", `{"step":"1d","horizon":"3","model":"snaive"}`},
		{"/v1/compare", `{"plans":[{"name":"a"},{"name":"b","set":["capacity.base.gpus=48"]}]}`},
	} {
		holds(q.path+" request", place(q.path, "post")+"/requestBody"+media, q.body)
		holds(q.path, place(q.path, "post")+"/responses/200"+media, s.expect(t, http.StatusOK, q.path, q.body))
		holds(q.path+" error", place(q.path, "post")+"/responses/400"+media, s.expect(t, http.StatusBadRequest, q.path, `{"x":1}`))
	}
	_, _, text := exchange(t, s.request(http.MethodGet, "/v1/runs", "", nil))
	holds("/v1/runs", place("/v1/runs", "get")+"/responses/200"+media, text)
}

// A validator of OpenAPI finds nothing in the description: .ci/openapi runs this with Redocly's.
func TestDescriptionIsValid(t *testing.T) {
	s := start(t, Options{})
	var d map[string]any
	if err := json.Unmarshal(s.spec, &d); err != nil || d["openapi"] != "3.1.0" {
		t.Fatalf("%v: %.200s", err, s.spec)
	}
	redocly := os.Getenv("REDOCLY")
	if redocly == "" {
		t.Skip("REDOCLY names no validator: .ci/openapi installs one")
	}
	file := filepath.Join(t.TempDir(), "openapi.json")
	if err := os.WriteFile(file, s.spec, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(redocly, "lint", "--max-problems", "20", file).CombinedOutput(); err != nil || bytes.Contains(out, []byte("warning")) && !bytes.Contains(out, []byte("is valid")) {
		t.Errorf("%v\n%s", err, out)
	}
}
