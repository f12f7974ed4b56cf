package main

import "k8s.io/component-base/featuregate"

func gatesIn(features featuregate.MutableFeatureGate) map[featuregate.Feature]featuregate.FeatureSpec {
	return features.GetAll()
}
