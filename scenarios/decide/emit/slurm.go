package emit

import (
	"io"
	"math"
	"strconv"
	"strings"

	"capcli"
)

func init() {
	Targets.Add("slurm", "a shell script with commands of sacctmgr and scontrol, and partitions for slurm.conf", writeSlurm)
}

func digits(n int64) string { return strconv.FormatInt(n, 10) }

func nothing(why string) error {
	return &capcli.ResultError{Kind: capcli.NoPlan, Text: why, Hint: "capcli emit --help lists the other systems"}
}

// writeSlurm writes a shell script: a QOS with the GPUs of each pool, an account for each tenant with its
// shares, a partition for each pool, and a reservation for each purchase with dates. The names of nodes come
// from the environment; without them it ends before it changes anything.
func writeSlurm(w io.Writer, p *Plan) error {
	pools := p.heldPools()
	var left []string
	for _, x := range pools {
		left = append(left, nodesVariable(x.Name)+": the nodes of "+x.Name+", such as gpu[01-08]")
		if x.GPUs == 0 {
			left = append(left, "GrpTRES of "+x.Name+": the plan states no limit, so it is 0 here and no job runs there")
		}
	}
	var t text
	t.line("#!/bin/sh")
	t.head(p, "Limits of Slurm for a plan of capcli. Partitions go to stdout, for slurm.conf.", append(left, "gres.conf and NodeName lines; AccountingStorageEnforce=limits,qos in slurm.conf")...)
	t.line("set -eu")
	for _, x := range pools {
		name := nodesVariable(x.Name)
		t.line(`: "${%s:?the nodes of %s, such as gpu[01-08]}"`, name, x.Name)
	}
	for _, x := range pools {
		t.remark("%s: %s", x.Terms, x.Source)
		t.line("sacctmgr -i add qos %s", x.Name)
		t.line("sacctmgr -i modify qos %s set GrpTRES=gres/gpu=%d", x.Name, x.GPUs)
		if x.GPUs == 0 {
			t.remark("FILL IN: a limit of %s", x.Name)
		}
	}
	for _, n := range p.Tenants {
		t.line("sacctmgr -i add account %s set FairShare=%d", n.Name, max(1, int64(math.Round(n.Weight*100))))
		if n.Quota > 0 {
			t.line("sacctmgr -i modify account %s set GrpTRES=gres/gpu=%d", n.Name, n.Quota)
		}
	}
	t.line("cat <<PARTITIONS")
	for _, x := range pools {
		t.line("PartitionName=%s Nodes=$%s QOS=%s PriorityTier=%d State=UP", x.Name, nodesVariable(x.Name), x.Name, 4-rank(x.Terms))
	}
	t.line("PARTITIONS")
	for _, x := range p.Pools {
		if x.From != "" && x.Until != "" && x.Later {
			t.remark("%s: %s; its nodes are kept until they are yours to use", x.Name, x.Source)
			t.line(`scontrol create reservation ReservationName=%s StartTime=%s EndTime=%s Nodes="${%s:?the nodes of %s}" Users=root Flags=IGNORE_JOBS`, x.Name, x.From, x.Until, nodesVariable(x.Name), x.Name)
		}
	}
	return t.writeTo(w)
}

func nodesVariable(name string) string {
	return "NODES_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}
