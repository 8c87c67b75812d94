// Package agents draws trees of model calls: a request of an agent becomes calls that wait for each other.
package agents
