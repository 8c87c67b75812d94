package emit

import "io"

func init() {
	Targets.Add("kueue", "ResourceFlavors, ClusterQueues in a cohort and LocalQueues of Kueue (v1beta2)", writeKueue)
}

// gpuResource is the resource of GPUs on nodes with NVIDIA's device plugin.
const gpuResource = "nvidia.com/gpu"

// poolLabel is the label of nodes that says which pool they are of. Karpenter's node pools set it.
const poolLabel = "capcli-pool"

// writeKueue writes the quotas of a plan. Each tenant has a ClusterQueue in one cohort; its nominal quota of a
// pool is its share by weight, and it may borrow what others leave, up to its own quota where it has one.
func writeKueue(w io.Writer, p *Plan) error {
	pools := p.heldPools()
	tenants := p.Tenants
	if len(tenants) == 0 {
		tenants = []Tenant{{Name: "all", Weight: 1}}
	}
	var t text
	left := []string{
		"label the nodes of each pool: kubectl label node NODE " + poolLabel + "=POOL",
		"jobs that ask for cpu or memory need them in coveredResources too, or under resources.excludeResourcePrefixes of Kueue's Configuration",
		"namespaces of the LocalQueues, which must exist",
	}
	for _, x := range pools {
		if x.GPUs == 0 {
			left = append(left, "nominalQuota of "+x.Name+": the plan states no limit, so it is 0 here and the pool is not used")
		}
	}
	t.head(p, "Quotas of Kueue for a plan of capcli", left...)
	for _, x := range pools {
		t.line("---")
		t.remark("%s: %s", x.Terms, x.Source)
		t.line("apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata:\n  name: %s\nspec:\n  nodeLabels:\n    %s: %s", x.Name, poolLabel, x.Name)
	}
	parts := make([][]int64, len(pools))
	for i, x := range pools {
		parts[i] = divide(x.GPUs, tenants)
	}
	for k, tenant := range tenants {
		t.line("---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata:\n  name: %s", tenant.Name)
		t.line("spec:\n  cohortName: capcli\n  namespaceSelector: {}\n  queueingStrategy: BestEffortFIFO")
		t.line("  preemption:\n    reclaimWithinCohort: Any\n    withinClusterQueue: LowerPriority")
		t.line("  resourceGroups:\n  - coveredResources: [%q]\n    flavors:", gpuResource)
		room := tenant.Quota // 0 is without a limit
		for i, x := range pools {
			own := parts[i][k]
			borrow := x.GPUs - own
			if tenant.Quota > 0 {
				own = min(own, room)
				room -= own
				borrow = min(borrow, max(0, tenant.Quota-own))
			}
			t.line("    - name: %s\n      resources:\n      - name: %q\n        nominalQuota: %d", x.Name, gpuResource, own)
			if len(tenants) > 1 {
				t.line("        borrowingLimit: %d", borrow)
			}
			if x.GPUs == 0 {
				t.remark("        FILL IN: a limit of %s", x.Name)
			}
		}
		if tenant.Quota > 0 {
			t.remark("  the scenario lets %s hold at most %d GPUs at once; Kueue limits each flavor by itself", tenant.Name, tenant.Quota)
		}
		t.line("---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata:\n  name: %s\n  namespace: %s\nspec:\n  clusterQueue: %s", tenant.Name, tenant.Name, tenant.Name)
	}
	return t.writeTo(w)
}
