package scenarios

import (
	_ "embed" // the template is a file

	"capcli/scenarios/generate"
	"capcli/scenarios/strict"
	"capcli/simulate"
	"capcli/simulate/billing"
	"capcli/simulate/outcome"
)

// Section is a part of a scenario and the fields that it may have.
type Section struct {
	Name   string // "capacity", "overflow.patience"; "" is the top level
	Fields []Field
}

// Field is one field of a section with a line about it.
type Field struct{ Name, Doc string }

// Schema lists every section and field that a scenario may have.
func Schema() []Section {
	var (
		s    Scenario
		w    generate.Class
		mode string
	)
	var out []Section
	for _, x := range []struct {
		name   string
		fields []strict.Field
	}{
		{"", topFields(&s)},
		{"jobs", jobsFields(&s.Jobs)},
		{"jobs.generate", workloadFields(&generate.Workload{})},
		{"jobs.generate.classes", classFields(&w)},
		{"jobs.generate.classes.tenants", workTenantFields(&generate.Tenant{})},
		{"jobs.generate.classes.sizes", workSizeFields(&generate.Size{})},
		{"capacity", capacityFields(&Capacity{})},
		{"capacity.price", priceFields(new(string), &When{}, new(bool))},
		{"capacity.price_path", changeFields(&PriceChange{})},
		{"capacity.failures", failuresFields(&Failures{})},
		{"capacity.hazard", hazardFields(&Hazard{})},
		{"capacity.availability", availabilityFields(&Availability{})},
		{"policy", policyFields(&s.Policy)},
		{"overflow", overflowFields(&s.Overflow)},
		{"overflow.patience", patienceFields(&simulate.Patience{})},
		{"preemption", preemptionFields(&mode, &s.Preemption.Classes)},
		{"preemption.classes", restartFields(&simulate.RestartClass{})},
		{"tenants", tenantFields(&simulate.Tenant{})},
		{"budget", budgetFields(&billing.Budget{}, &mode, &mode)},
		{"approvals", approvalFields(&billing.Approval{})},
		{"energy", energyFields(&Energy{}, &powerText{})},
		{"energy.models", powerModelFields(&billing.ModelPower{}, &powerText{})},
	} {
		section := Section{Name: x.name}
		for _, f := range x.fields {
			section.Fields = append(section.Fields, Field{f.Name, f.Doc})
		}
		out = append(out, section)
	}
	limits := Section{Name: "limits"}
	for _, m := range outcome.Metrics {
		limits.Fields = append(limits.Fields, Field{m.Name, m.Doc})
	}
	return append(out, limits)
}

//go:embed template.yaml.txt
var templateText string

// Template is a scenario to begin with: it can be run as it is, and says every
// field that there is, most of them behind a #.
func Template() string { return templateText }
