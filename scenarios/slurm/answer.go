// Package slurm answers from the files of a Slurm site as Slurm's own commands write them: what is used of
// them, priorities as slurmctld computes them, what it does with jobs, and a scenario with its rules.
//
// The rules were read from the answers and logs of Slurm 22.05.8 with select/cons_tres, and from its manual.
package slurm

import (
	"encoding/json"
	"fmt"

	"capcli"
)

// Answer returns what the files of a site answer: "site" is the account of each line as JSON, "scenario" a
// scenario with the site's rules as YAML, "priorities" what sprio says as JSON, "play" what becomes of the
// jobs of submitted.json, as JSON.
func Answer(what string, dir folder) ([]byte, error) {
	s, err := readSite(dir)
	if err != nil {
		return nil, err
	}
	var answer any
	switch what {
	case "site":
		answer = s.Account
	case "scenario":
		return s.scenario(), nil
	case "priorities":
		answer = newRules(s).answer()
	case "play":
		if answer, err = playSite(s); err != nil {
			return nil, &capcli.InputError{Text: err.Error()}
		}
	default:
		return nil, &capcli.RequestError{Field: "format", Text: fmt.Sprintf("wants slurm-site, slurm-scenario, slurm-priorities or slurm-play, found slurm-%s", what)}
	}
	b, err := json.MarshalIndent(answer, "", "  ")
	return append(b, '\n'), err
}
