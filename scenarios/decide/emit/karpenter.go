package emit

import (
	"io"
	"slices"
)

func init() {
	Targets.Add("karpenter", "NodePools of Karpenter (v1), with limits and weights", writeKarpenter)
}

// nodeClasses are the groups and kinds of node classes, by provider.
var nodeClasses = map[string][2]string{
	"aws": {"karpenter.k8s.aws", "EC2NodeClass"}, "azure": {"karpenter.azure.com", "AKSNodeClass"}, "gcp": {"karpenter.k8s.gcp", "GCENodeClass"},
}

// writeKarpenter writes a node pool for each pool that a cloud provides. Karpenter tries the pool of the
// largest weight first: what is reserved, then spot, then on demand.
func writeKarpenter(w io.Writer, p *Plan) error {
	left := []string{"nodeClassRef: the name of your node class"}
	pools := p.heldPools()
	for _, x := range pools {
		switch {
		case x.Terms == "owned":
			left = append(left, "the nodes of "+x.Name+" are owned: Karpenter does not make them; they take no NodePool")
		case x.GPUs == 0:
			left = append(left, "limits of "+x.Name+": the plan states none, so it is 0 here and the pool makes no node")
		}
		if x.Terms == "reserved" {
			left = append(left, "capacityReservationSelectorTerms of the node class of "+x.Name+": its reservations (capcli emit --as terraform)")
		}
		if x.Machine.Machine == "" && x.Terms != "owned" {
			left = append(left, "instance types of "+x.Name+": the plan does not name its machines, so any with a GPU is allowed")
		}
	}
	var t text
	t.head(p, "NodePools of Karpenter for a plan of capcli", left...)
	weights := map[string]int{"reserved": 100, "spot": 50, "on_demand": 10}
	kinds := map[string]string{"reserved": "reserved", "spot": "spot", "on_demand": "on-demand"}
	for _, x := range pools {
		if x.Terms == "owned" {
			continue
		}
		t.line("---")
		t.remark("%s: %s", x.Terms, x.Source)
		t.line("apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata:\n  name: %s\nspec:\n  weight: %d\n  limits:\n    %s: %q", x.Name, weights[x.Terms], gpuResource, digits(x.GPUs))
		if x.GPUs == 0 {
			t.remark("    FILL IN: a limit of %s", x.Name)
		}
		t.line("  template:\n    metadata:\n      labels:\n        %s: %s\n    spec:", poolLabel, x.Name)
		class := nodeClasses[x.Machine.Provider]
		if class == [2]string{} {
			class = nodeClasses["aws"]
			t.remark("      FILL IN: the node class of your cloud; this is that of AWS")
		}
		t.line("      nodeClassRef: # FILL IN\n        group: %s\n        kind: %s\n        name: default", class[0], class[1])
		t.line("      requirements:\n      - key: karpenter.sh/capacity-type\n        operator: In\n        values: [%q]", kinds[x.Terms])
		if x.Machine.Machine != "" {
			t.line("      - key: node.kubernetes.io/instance-type\n        operator: In\n        values: [%q]", x.Machine.Machine)
		} else {
			t.line("      - key: karpenter.k8s.aws/instance-gpu-count\n        operator: Exists")
		}
		t.line("      taints:\n      - key: %s\n        effect: NoSchedule", gpuResource)
	}
	if t.Len() == 0 || !hasProvided(pools) {
		return nothing("every pool of the plan is owned: Karpenter makes no nodes for it")
	}
	return t.writeTo(w)
}

func hasProvided(pools []Pool) bool {
	return slices.ContainsFunc(pools, func(x Pool) bool { return x.Terms != "owned" })
}
