package kubernetes

import (
	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/kubernetes/kueue"
	"capcli/scenarios/strict"
)

// configuration is Kueue's Configuration.
type configuration struct {
	fair        bool
	strategies  []string
	excluded    []string // prefixes of resources that take no quota
	ignoreOther bool     // resources that a queue does not cover take no quota
	transforms  []transform
}

// transform turns a resource that pods request into others.
type transform struct {
	input, strategy, multiplyBy string
	outputs                     map[string]capcli.Quantity
}

// configFields are the fields of Configuration that decide nothing here.
const configFields = `namespace webhook leaderElection metrics health pprofBindAddress controller tls internalCertManagement clientConnection
	integrations objectRetentionPolicies visibilityServer queueVisibility manageJobsWithoutQueueName managedJobsNamespaceSelector
	gracefulShutDown syncPeriod cacheNamespace`

// featureGates are the gates whose default changes what is decided here, with that default.
var featureGates = map[string]bool{
	"FlavorFungibility": true, "FlavorFungibilityPreserveScanProgress": true, "PrioritySortingWithinCohort": true, "PartialAdmission": true,
	"SchedulingEquivalenceHashing": true, "FairSharingPrioritizeNonBorrowing": true, "FairSharingPreemptWithinNominal": true,
	"TopologyAwareScheduling": true, "LendingLimit": true, "HierarchicalCohorts": true,
	"PrioritizePreemptorWorkloads": false, "RecomputeAssignmentUponPreemptionTargetsOverlap": false, "SchedulerTimestampPreemptionBuffer": false,
	"TASProfileLeastFreeCapacity": false, "TASProfileMixed": true, "TASBalancedPlacement": false, "ElasticJobsViaWorkloadSlices": false, "ConcurrentAdmission": false,
}

func readConfiguration(r *reader, n *yaml.Node, m *meta) func() error {
	c := configuration{}
	enable, sharing := true, false
	var gates map[string]bool
	fairFields := object("fairSharing", field("enable", strict.Bool(&enable)),
		field("preemptionStrategies", list(&c.strategies, "strategies", func(s *string) strict.Reader {
			return choice(s, kueue.FinalShare, kueue.InitialShare)
		})))
	fields := append(skipped(configFields),
		field("fairSharing", func(d *strict.Decoder, n *yaml.Node) {
			sharing = true
			fairFields(d, n)
		}),
		field("resources", object("resources",
			field("excludeResourcePrefixes", textList(&c.excluded, "prefixes")),
			field("quotaCheckStrategy", func(d *strict.Decoder, n *yaml.Node) {
				s := ""
				choice(&s, "BlockUndeclared", "IgnoreUndeclared")(d, n)
				c.ignoreOther = s == "IgnoreUndeclared"
			}),
			field("transformations", list(&c.transforms, "transformations", func(t *transform) strict.Reader {
				return object("transformations", field("input", text(&t.input)), field("strategy", choice(&t.strategy, "Retain", "Replace")),
					field("multiplyBy", text(&t.multiplyBy)), field("outputs", amounts(&t.outputs)))
			})),
			r.unmodelled("deviceClassMappings", "resource claims (DRA) are not modelled: they take no quota"))),
		field("featureGates", mapOf(&gates, strict.Bool)),
		field("waitForPodsReady", func(_ *strict.Decoder, n *yaml.Node) {
			if childText(n, "enable") != "false" {
				r.note("waitForPodsReady is not modelled: pods are ready at once")
			}
		}),
		r.unmodelled("admissionFairSharing", "admission fair sharing is not modelled: ClusterQueues order by priority and time alone"),
		r.unmodelled("multiKueue", "MultiKueue is not modelled: all workloads stay in this cluster"))
	r.readObject(n, m, "Configuration", fields...)
	return func() error {
		if r.configured != "" {
			return m.fault("kind", "a second Configuration; the first is in "+r.configured, "Kueue has one: leave the others out")
		}
		r.configured = m.file
		c.fair = sharing && enable
		for name, on := range gates {
			if standard, known := featureGates[name]; known && standard != on {
				r.note("the feature gate %s is set to %t, which is not modelled: its default %t counts", name, on, standard)
			}
		}
		r.config = c
		return nil
	}
}

// readConfigMap reads the Configuration in the ConfigMap of Kueue's manager; other ConfigMaps decide
// nothing.
func readConfigMap(r *reader, n *yaml.Node, m *meta) func() error {
	body := childText(strict.Child(n, "data"), "controller_manager_config.yaml")
	if metaNode := strict.Child(n, "metadata"); metaNode != nil {
		metadata(m)(r.d, metaNode)
	}
	return func() error {
		if body == "" {
			r.note("objects of kind ConfigMap decide nothing here: they are left out")
			return nil
		}
		return r.Read(m.file+" ("+m.name+")", []byte(body))
	}
}
