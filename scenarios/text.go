package scenarios

import (
	"bytes"

	"go.yaml.in/yaml/v3"

	"capcli/scenarios/strict"
)

// YAML returns the text of the scenario with its overrides in their places. Comments stay; line
// breaks and spaces may differ from those of the file. Files that it names are still relative to
// the folder of the scenario.
func (s *Scenario) YAML() ([]byte, error) {
	d := &strict.Decoder{Form: &scenarioForm, Overrides: s.sets}
	root := d.ReadTree(s.source)
	if root != nil {
		override(d, root, s.sets)
	}
	if d.FaultCount() > 0 || root == nil {
		return nil, d.Refusal(s.File, "")
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(root); err != nil {
		return nil, err
	}
	return b.Bytes(), e.Close()
}
