package doors

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/decide/emit"
	"capcli/scenarios/money/prices"
)

const plan = `{"schema":"capcli/plan_mix/v1","scenario":"lab","best":{"choices":[],"unserved_share":0.1},
	"buys":[{"pool":"base","gpus":60,"terms":"reserved","term":"1y","gpu_model":"H100"},{"pool":"a\"b${c}\n","gpus":8,"terms":"reserved","term":"1y","gpu_model":"H100"}]}`

const lab = `capcli: scenario/v1
name: lab
capacity:
  - {name: base, kind: reserved, gpus: 60, price: 2, gpu_model: H100}
  - {name: od, kind: on_demand, max_gpus: 32, price: 4, gpu_model: H100}
  - {name: cheap, kind: spot, price: 1, gpu_model: H100}
tenants: [{name: research, weight: 2, quota: 50}, {name: "Prod !", weight: 1}]
`

func write(t *testing.T, as, price string) string {
	t.Helper()
	s, err := scenarios.Parse("lab.yaml", []byte(lab))
	if err != nil {
		t.Fatal(err)
	}
	q := emit.Request{File: "plan.json", Text: []byte(plan), As: as, Scenario: s, At: capcli.NoTime}
	if price != "" {
		quote, err := prices.Catalogue().Find(price)
		if err != nil {
			t.Fatal(err)
		}
		q.Price = &quote
	}
	var b bytes.Buffer
	if _, err := q.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// definitions returns the folder of a module's files; the test is skipped where it cannot be had.
func definitions(t *testing.T, module, folder string) string {
	t.Helper()
	cmd := exec.Command("go", "mod", "download", "-json", module)
	cmd.Dir = t.TempDir()
	out, err := cmd.Output()
	var said struct{ Dir string }
	if err != nil || json.Unmarshal(out, &said) != nil || said.Dir == "" {
		t.Skipf("%s cannot be had: %v", module, err)
	}
	return filepath.Join(said.Dir, folder)
}

// validator returns the validator of a version of a custom resource.
func validator(t *testing.T, file, version string) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var crd struct {
		Spec struct {
			Versions []struct {
				Name   string
				Schema struct {
					OpenAPI map[string]any `yaml:"openAPIV3Schema"`
				}
			}
		}
	}
	if err := yaml.Unmarshal(text, &crd); err != nil {
		t.Fatal(err)
	}
	for _, v := range crd.Spec.Versions {
		if v.Name != version {
			continue
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource("urn:crd", closed(jsonValue(t, v.Schema.OpenAPI))); err != nil {
			t.Fatal(err)
		}
		s, err := c.Compile("urn:crd")
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	t.Fatalf("%s has no version %s", file, version)
	return nil
}

// jsonValue returns a value of YAML as that of JSON.
func jsonValue(t *testing.T, v any) any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	out, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// closed forbids fields that a definition does not name, which the API server would prune. The standard
// metadata is free.
func closed(v any) any {
	switch x := v.(type) {
	case map[string]any:
		for k, y := range x {
			if k != "metadata" {
				x[k] = closed(y)
			}
		}
		if _, ok := x["properties"].(map[string]any); ok && x["additionalProperties"] == nil {
			x["additionalProperties"] = false
		}
	case []any:
		for i := range x {
			x[i] = closed(x[i])
		}
	}
	return v
}

// documents returns the objects of a YAML text by their kind.
func documents(t *testing.T, text string) map[string][]any {
	t.Helper()
	out := map[string][]any{}
	dec := yaml.NewDecoder(strings.NewReader(text))
	for {
		var v map[string]any
		if err := dec.Decode(&v); err != nil {
			return out
		}
		if kind, ok := v["kind"].(string); ok {
			out[kind] = append(out[kind], jsonValue(t, v))
		}
	}
}

func TestCustomResources(t *testing.T) {
	for _, tt := range []struct {
		as, module, folder, version string
		files                       map[string]string
	}{
		{"kueue", "sigs.k8s.io/kueue@v0.19.2", "config/components/crd/bases", "v1beta2", map[string]string{
			"ResourceFlavor": "kueue.x-k8s.io_resourceflavors.yaml", "ClusterQueue": "kueue.x-k8s.io_clusterqueues.yaml", "LocalQueue": "kueue.x-k8s.io_localqueues.yaml",
		}},
		{"karpenter", "sigs.k8s.io/karpenter@v1.8.0", "pkg/apis/crds", "v1", map[string]string{"NodePool": "karpenter.sh_nodepools.yaml"}},
	} {
		t.Run(tt.as, func(t *testing.T) {
			folder := definitions(t, tt.module, tt.folder)
			for _, price := range []string{"", "aws/us-east-1/p5.48xlarge/on_demand"} {
				objects := documents(t, write(t, tt.as, price))
				for kind, file := range tt.files {
					v := validator(t, filepath.Join(folder, file), tt.version)
					if len(objects[kind]) == 0 {
						t.Errorf("no %s", kind)
					}
					for _, o := range objects[kind] {
						if err := v.Validate(o); err != nil {
							t.Errorf("%s: %v", kind, err)
						}
					}
					if err := v.Validate(jsonValue(t, map[string]any{"spec": map[string]any{"planted": true}})); err == nil {
						t.Errorf("%s: a planted field is taken", kind)
					}
				}
			}
		})
	}
}

func TestTerraformParses(t *testing.T) {
	for _, price := range []string{"", "aws/us-east-1/p5.48xlarge/on_demand", "gcp/us-central1/a3-highgpu-8g/1y"} {
		text := write(t, "terraform", price)
		file, diagnostics := hclparse.NewParser().ParseHCL([]byte(text), "main.tf")
		if diagnostics.HasErrors() {
			t.Errorf("%s: %v\n%s", price, diagnostics, text)
			continue
		}
		if attributes, _ := file.Body.JustAttributes(); len(attributes) > 0 {
			t.Errorf("%s: attributes outside of blocks: %v", price, attributes)
		}
	}
	if _, diagnostics := hclparse.NewParser().ParseHCL([]byte("resource {"), "x.tf"); !diagnostics.HasErrors() {
		t.Error("the parser takes anything")
	}
}
