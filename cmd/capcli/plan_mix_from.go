package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/play"
)

// fromRuns takes over what the runs in a folder were made from, but for what the
// flags say, and gives the name of their scenario.
func (o *simulateOptions) fromRuns(e *env, folder, scenario string) (string, error) {
	if scenario != "" {
		return "", &usageError{text: fmt.Sprintf("--from %s names a scenario, and so does %s", folder, scenario), hint: "leave out one of them"}
	}
	in, err := readInputs(e, folder)
	if err != nil {
		return "", err
	}
	if in == nil {
		return "", &capcli.InputError{
			File: filepath.Join(folder, inputsFile), Text: "expected what the runs were made from, found no such file",
			Hint: "make the folder with capcli simulate … --out " + folder,
		}
	}
	x := &explaining{o: &explainOptions{sim: *o, replayed: o.runs > 0}}
	if err := x.fromFolder(e, folder, in); err != nil {
		return "", err
	}
	*o = x.o.sim
	if len(o.policies) == 0 {
		o.sets = append(o.sets, "policy.name="+x.policy)
	}
	if len(o.placements) == 0 {
		o.sets = append(o.sets, "placement="+x.place)
	}
	return namedScenario(o.kept, o.trace), nil
}

// namedScenario is how a call names the scenario: one of the library by its name, and one
// that was made for a trace not at all.
func namedScenario(s *play.ScenarioInput, trace string) string {
	name := strings.TrimSuffix(filepath.Base(s.File), ".yaml")
	if text, ok := scenarios.Library(name); ok && string(text) == s.Text {
		return name
	}
	if s.File == "trace.yaml" && trace != "" {
		return ""
	}
	return s.File
}
