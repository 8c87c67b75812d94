// Package doors holds what capcli emit writes against the programs and definitions of the systems that it is
// for: the custom resources of Kueue and Karpenter, and the parser of Terraform's language. It is a module of
// its own, so that capcli does not depend on them.
package doors
