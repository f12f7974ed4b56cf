package main

import _ "k8s.io/component-base/logs/json/register"
