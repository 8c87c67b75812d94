package scenarios

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"capcli/scenarios/generate"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/strict"
	"capcli/simulate"
	"capcli/simulate/policy"
)

func TestTemplateIsValidAndSaysEveryField(t *testing.T) {
	if _, err := Parse("template.yaml", []byte(Template())); err != nil {
		t.Error(err)
	}
	for _, s := range sections() {
		for _, f := range s.fields {
			if !regexp.MustCompile(`\b` + f.Name + `\b`).MatchString(Template()) {
				t.Errorf("the template does not say %s of %s", f.Name, s.name)
			}
			if f.Doc == "" {
				t.Errorf("%s.%s has no line about it", s.name, f.Name)
			}
		}
	}
}

// With every # of an optional field taken away, each by itself, the file must
// stay a scenario, or say only that two fields exclude each other or that one needs another.
func TestTemplateFieldsAreRight(t *testing.T) {
	lines := strings.Split(Template(), "\n")
	field := regexp.MustCompile(`^( *)#([a-z_]+:|- \{)`)
	others := []string{"leave one out", "; give capacity a place", "give energy with intensity", "; add one, or an intensity"}
	tried := 0
	for i, l := range lines {
		if !field.MatchString(l) || strings.HasPrefix(l, "#jobs:") || strings.HasPrefix(l, "#policy:") || strings.HasPrefix(l, "#preemption:") || l == "#tenants:" || strings.HasPrefix(l, "#  slurm:") {
			continue
		}
		changed := append([]string(nil), lines...)
		changed[i] = strings.Replace(l, "#", "", 1)
		if strings.HasSuffix(l, ",") { // goes on in the next line
			changed[i+1] = strings.Replace(lines[i+1], "#", "", 1)
		}
		tried++
		_, err := Parse("template.yaml", []byte(strings.Join(changed, "\n")))
		if err != nil && !slices.ContainsFunc(others, func(text string) bool { return strings.Contains(err.Error(), text) }) {
			t.Errorf("line %d: %v", i+1, err)
		}
	}
	if tried < 20 {
		t.Errorf("tried %d fields, want all", tried)
	}
}

// section is a part of a scenario and the fields that it may have.
type section struct {
	name   string
	fields []strict.Field
}

// sections lists every section and field that a scenario may have, but for limits,
// whose metrics are listed by the command.
func sections() []section {
	var (
		s    Scenario
		w    generate.Class
		mode string
	)
	return []section{
		{"", topFields(&s)},
		{"jobs", jobsFields(&s.Jobs)},
		{"kueue", kueueFields(&Kueue{})},
		{"jobs.generate", workloadSection.Fields(&generate.Workload{})},
		{"stages", workflowSection.Fields(&generate.Workflow{})},
		{"stages.stages", stageSection.Fields(&generate.Stage{})},
		{"sweeps", sweepFields(&generate.Sweep{})},
		{"jobs.generate.classes", classSection.Fields(&w)},
		{"jobs.generate.classes.tenants", workTenantSection.Fields(&generate.Tenant{})},
		{"jobs.generate.classes.sizes", workSizeSection.Fields(&generate.Size{})},
		{"speed", speedFields(&Speed{})},
		{"speed.profile", speedProfileSection.Fields(&SpeedProfile{})},
		{"capacity", capacityFields(&Capacity{})},
		{"capacity.price", priceFields(new(string), &When{}, new(bool))},
		{"capacity.price_path", priceChangeSection.Fields(&PriceChange{})},
		{"capacity.failures", failuresSection.Fields(&Failures{})},
		{"capacity.failures.rack", rackSection.Fields(&RackFailures{})},
		{"capacity.failures.gpu", gpuSection.Fields(&GPUFailures{})},
		{"defragment", defragmentSection.Fields(&simulate.Defragment{})},
		{"preemption.retries", retrySection.Fields(&simulate.Retries{})},
		{"capacity.hazard", hazardSection.Fields(&Hazard{})},
		{"capacity.availability", availabilitySection.Fields(&Availability{})},
		{"capacity.buy", buySection.Fields(&Buy{})},
		{"capacity.buy.lead_time", leadSection.Fields(&LeadTime{})},
		{"capacity.buy.shortage", shortageSection.Fields(&Shortage{})},
		{"capacity.maintenance", maintenanceSection.Fields(&Window{})},
		{"capacity.reservations", reservationSection.Fields(&Window{})},
		{"shapes", shapeSection.Fields(&ShapeRule{})},
		{"shapes.scaling", scalingSection.Fields(&Scaling{})},
		{"shapes.near", nearSection.Fields(&nearSpec{})},
		{"shapes.uses", usesSection.Fields(&useRules{})},
		{"shapes.uses.use", useSection.Fields(&UseRule{})},
		{"widths", choosingSection.Fields(&Choosing{})},
		{"policy", policyFields(&s.Policy)},
		{"policy.slurm", slurmSection.Fields(&policy.Slurm{})},
		{"policy.slurm.weights", slurmWeightSection.Fields(&policy.SlurmWeights{})},
		{"policy.slurm.partitions", slurmPartitionSection.Fields(&policy.SlurmPartition{})},
		{"policy.slurm.preempt", slurmPreemptSection.Fields(&policy.SlurmPreempt{})},
		{"overflow", overflowSection.Fields(&s.Overflow)},
		{"overflow.patience", patienceSection.Fields(&simulate.Patience{})},
		{"preemption", preemptionFields(&mode, &s)},
		{"preemption.classes", restartSection.Fields(&simulate.RestartClass{})},
		{"tenants", tenantSection.Fields(&simulate.Tenant{})},
		{"tenants.caps", capsSection.Fields(&simulate.Caps{})},
		{"tenants.caps.hoard", hoardSection.Fields(&simulate.Hoard{})},
		{"tenants.gpu_budget", gpuBudgetSection.Fields(&simulate.Budget{})},
		{"tenants.usd_budget", usdBudgetSection.Fields(&simulate.Budget{})},
		{"priority_classes", priorityClassSection.Fields(&simulate.PriorityClass{})},
		{"budget", budgetFields(&billing.Budget{}, &mode, &mode)},
		{"approvals", approvalSection.Fields(&billing.Approval{})},
		{"energy", energySection.Fields(&Energy{})},
		{"energy.models", powerModelSection.Fields(&billing.ModelPower{})},
	}
}
