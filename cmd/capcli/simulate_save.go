package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"capcli/scenarios/play"
	"capcli/simulate/outcome"
)

// save writes each plan's runs into a folder of --out: result.json, which
// capcli compare reads, and inputs.json, from which capcli explain makes the
// runs again.
func (o *simulateOptions) save(e *env, plans []*play.Case, folders map[*play.Case]string, results [][]*play.Run, part *outcome.Partial) error {
	if o.dir == "" {
		return nil
	}
	var wrote []string
	files, err := o.log.inputs(e)
	if err != nil {
		return err
	}
	for i, p := range plans {
		folder := filepath.Join(o.dir, folders[p])
		data := outcome.NewDocument()
		data.Notes, data.Partial = p.Notes, part
		for _, r := range results[i] {
			data.Runs = append(data.Runs, r.Outcome)
		}
		if err := e.disk.mkdir(folder); err != nil {
			return &outputError{path: folder, err: err}
		}
		for _, f := range []struct {
			name string
			data any
		}{{inputsFile, o.inputs(p, len(results[i]), folder, files)}, {resultFile, data}} {
			if err := writeJSON(e, filepath.Join(folder, f.name), f.data); err != nil {
				return err
			}
		}
		wrote = append(wrote, folder)
	}
	next := ""
	if len(wrote) > 1 {
		next = fmt.Sprintf(". next: capcli compare %s %s", wrote[0], wrote[1])
	} else if o.trace != "-" { // what came from stdin cannot be played again
		next = fmt.Sprintf(". next: capcli explain %s wait_p95", wrote[0])
	}
	e.say("wrote " + strings.Join(wrote, ", ") + next)
	return nil
}

// writeJSON writes a file whole.
func writeJSON(e *env, name string, data any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(data); err != nil {
		return err
	}
	return writeWhole(e, name, b.Bytes())
}

// resultFile is the name of the result in a plan's folder.
const resultFile = "result.json"

// runFolders gives each plan the name of its folder under --out.
func runFolders(plans []*play.Case) map[*play.Case]string {
	out := map[*play.Case]string{}
	for _, p := range plans {
		out[p] = runFolder(p, plans)
	}
	return out
}

// runFolder is the plan's name as a folder: its scenario, with the policy and the
// placement where another plan has the same scenario. What is no letter, digit,
// dot or dash becomes a dash, so a name cannot lead elsewhere.
func runFolder(p *play.Case, all []*play.Case) string {
	name := p.Scenario.Name
	for _, other := range all {
		if other != p && other.Scenario.Name == name {
			name += "-" + p.Scenario.PolicyName() + "-" + p.Scenario.PlacementName()
			break
		}
	}
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
