package slurm

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// scenario returns a scenario of capcli with the site's nodes and with its rules in the policy slurm.
// That policy weighs GPUs where Slurm weighs nodes and CPUs, all that the cluster has where Slurm weighs the
// partition, and backfills as EASY.
func (s *site) scenario() []byte {
	var b bytes.Buffer
	set := s.Settings
	fmt.Fprintf(&b, "# From the files of a Slurm site: capcli import slurm-site\ncapcli: scenario/v1\nname: %s\njobs: {from: jobs.csv} # or --trace\ncapacity:\n", strings.ToLower(cmp.Or(set["clustername"], "cluster")))
	s.writePools(&b)
	fmt.Fprintf(&b, "placement: best\npolicy:\n  name: slurm\n  slurm:\n")
	weight := func(key string) int64 { return set.int("priorityweight"+key, 0) }
	fmt.Fprintf(&b, "    weights: {age: %d, fair_share: %d, job_size: %d, partition: %d, qos: %d", weight("age"), weight("fairshare"), weight("jobsize"), weight("partition"), weight("qos"))
	for _, t := range newRules(s).weights.tres {
		if name := strings.TrimPrefix(t.name, "gres/"); name == "gpu" || name == "cpu" || name == "mem" {
			fmt.Fprintf(&b, ", %s: %g", name, t.weight)
		}
	}
	b.WriteString("}\n")
	fmt.Fprintf(&b, "    max_age: %ds\n    decay_half_life: %ds\n    calc_period: %ds\n", max(1, set.seconds("prioritymaxage", 7*86400)), set.seconds("prioritydecayhalflife", 7*86400), max(1, set.seconds("prioritycalcperiod", 300)))
	for _, f := range []struct {
		on   bool
		text string
	}{
		{set.has("priorityflags", "NO_FAIR_TREE"), "classic: true"},
		{strings.EqualFold(set["priorityfavorsmall"], "yes"), "favor_small: true"},
		{set["schedulertype"] == "sched/builtin", "builtin: true"},
		{set.int("fairsharedampeningfactor", 1) > 1, "dampening: " + set["fairsharedampeningfactor"]},
	} {
		if f.on {
			fmt.Fprintf(&b, "    %s\n", f.text)
		}
	}
	fmt.Fprintf(&b, "    partitions:\n")
	for _, p := range s.Partitions {
		fmt.Fprintf(&b, "      - {name: %q, factor: %d, tier: %d", p.Name, p.Factor, p.Tier)
		if p.MaxTime > 0 {
			fmt.Fprintf(&b, ", max_time: %ds", p.MaxTime)
		}
		b.WriteString("}\n")
	}
	if mode := strings.ToLower(cmp.Or(set["preemptmode"], "off")); mode == "requeue" || mode == "cancel" {
		by := "qos"
		if strings.HasSuffix(set["preempttype"], "partition_prio") {
			by = "partition"
		}
		fmt.Fprintf(&b, "    preempt: {by: %s, mode: %s}\n", by, mode)
	}
	s.writeTenants(&b)
	return b.Bytes()
}

// writePools writes a pool for the nodes of each model and size.
func (s *site) writePools(b *bytes.Buffer) {
	seen := map[string]bool{}
	for _, n := range s.Nodes {
		key := fmt.Sprintf("%s-%d", n.GPUModel, n.GPUs)
		if n.GPUs == 0 || seen[key] {
			continue
		}
		seen[key] = true
		nodes := 0
		for _, o := range s.Nodes {
			if o.GPUModel == n.GPUModel && o.GPUs == n.GPUs {
				nodes++
			}
		}
		fmt.Fprintf(b, "  - {name: %q, kind: owned, free: true, nodes: %d, gpus_per_node: %d, cpus_per_node: %d, mem_gb_per_node: %d", "gpu"+strings.TrimPrefix(key, "-"), nodes, n.GPUs, n.CPUs, max(1, n.MemMB/1024))
		if n.GPUModel != "" {
			fmt.Fprintf(b, ", gpu_model: %q", strings.ToUpper(n.GPUModel))
		}
		b.WriteString("}\n")
	}
}

// writeTenants writes the shares of users and accounts.
func (s *site) writeTenants(b *bytes.Buffer) {
	weights := map[string]int64{}
	for _, a := range s.byUser {
		if name := cmp.Or(a.User, a.Account); a.Parent != nil && a.Shares != parentShares {
			weights[name] = max(weights[name], a.Shares)
		}
	}
	if len(weights) > 0 {
		b.WriteString("tenants:\n")
	}
	for _, name := range slices.Sorted(maps.Keys(weights)) {
		fmt.Fprintf(b, "  - {name: %q, weight: %d}\n", name, max(1, weights[name]))
	}
}
